"""Every layer of Keras, with what it is given; layers that a replica cannot have, and why."""

import tensorflow as tf

K = tf.keras.layers

#: {layer: (what makes it, the shape of one example of each input, or of the only one)}
CASES = {
    "Activation": (lambda: K.Activation("gelu" if hasattr(K, "EinsumDense") else "elu"), (5, 6)),
    "ActivityRegularization": (lambda: K.ActivityRegularization(0.1), (6,)),
    "Add": (lambda: K.Add(), [(5, 6), (5, 6)]),
    "AdditiveAttention": (lambda: K.AdditiveAttention(), [(5, 6), (4, 6)]),
    "AlphaDropout": (lambda: K.AlphaDropout(0.5), (6,)),
    "Attention": (lambda: K.Attention(use_scale=True), [(5, 6), (4, 6)]),
    "Average": (lambda: K.Average(), [(5, 6), (5, 6)]),
    "BatchNormalization": (lambda: K.BatchNormalization(), (4, 4, 3)),
    "BatchNormalization of vectors": (lambda: K.BatchNormalization(), (6,)),
    "Bidirectional": (lambda: K.Bidirectional(K.LSTM(3)), (5, 6)),
    "Concatenate": (lambda: K.Concatenate(), [(5, 6), (5, 2)]),
    "ConvLSTM1D": (lambda: K.ConvLSTM1D(2, 3), (3, 6, 2)),
    "ConvLSTM2D": (lambda: K.ConvLSTM2D(2, 3), (3, 4, 4, 2)),
    "ConvLSTM3D": (lambda: K.ConvLSTM3D(2, 2), (2, 3, 3, 3, 2)),
    "Dense": (lambda: K.Dense(4, "relu"), (6,)),
    "Dense of sequences": (lambda: K.Dense(4, "tanh"), (5, 6)),
    "Dense of images": (lambda: K.Dense(4, "sigmoid"), (1, 5, 6)),
    "DepthwiseConv1D": (lambda: K.DepthwiseConv1D(3, activation="relu"), (6, 3)),
    "DepthwiseConv2D": (lambda: K.DepthwiseConv2D(3, activation="relu"), (5, 5, 3)),
    "Dot": (lambda: K.Dot(2), [(5, 6), (4, 6)]),
    "Dropout": (lambda: K.Dropout(0.5), (6,)),
    "ELU": (lambda: K.ELU(), (6,)),
    "EinsumDense": (lambda: K.EinsumDense("abc,cde->abde", (None, 2, 4), bias_axes="de"), (5, 8)),
    "EinsumDense of heads": (
        lambda: K.EinsumDense("abcd,cde->abe", (None, 4), bias_axes="e"),
        (5, 2, 3),
    ),
    "EinsumDense of one": (lambda: K.EinsumDense("abc,cd->abd", (1, 8), bias_axes="d"), (1, 1)),
    "Flatten": (lambda: K.Flatten(), (5, 6)),
    "GRU": (lambda: K.GRU(3, return_sequences=True), (5, 6)),
    "GaussianDropout": (lambda: K.GaussianDropout(0.5), (6,)),
    "GaussianNoise": (lambda: K.GaussianNoise(0.5), (6,)),
    "GroupNormalization": (lambda: K.GroupNormalization(2), (4, 4, 6)),
    "GroupQueryAttention": (lambda: K.GroupQueryAttention(4, 4, 2), [(5, 8), (5, 8)]),
    "Identity": (lambda: K.Identity(), (6,)),
    "LSTM": (lambda: K.LSTM(3), (5, 6)),
    "Lambda": (lambda: K.Lambda(lambda x: x * 2), (6,)),
    "LayerNormalization": (lambda: K.LayerNormalization(), (5, 6)),
    "LayerNormalization of two axes": (lambda: K.LayerNormalization(axis=[1, 2]), (5, 6)),
    "LeakyReLU": (lambda: K.LeakyReLU(), (6,)),
    "LocallyConnected1D": (lambda: K.LocallyConnected1D(2, 3), (6, 3)),
    "LocallyConnected2D": (lambda: K.LocallyConnected2D(2, 3), (4, 4, 2)),
    "Masking": (lambda: K.Masking(), (5, 6)),
    "Maximum": (lambda: K.Maximum(), [(5, 6), (5, 6)]),
    "Minimum": (lambda: K.Minimum(), [(5, 6), (5, 6)]),
    "MultiHeadAttention": (lambda: K.MultiHeadAttention(4, 8), [(8, 32), (8, 32)]),
    "MultiHeadAttention of one": (lambda: K.MultiHeadAttention(1, 4), [(1, 8), (1, 8)]),
    "Multiply": (lambda: K.Multiply(), [(5, 6), (5, 6)]),
    "Normalization": (lambda: K.Normalization(mean=1.0, variance=2.0), (6,)),
    "PReLU": (lambda: K.PReLU(), (6,)),
    "Permute": (lambda: K.Permute((2, 1)), (5, 6)),
    "RMSNormalization": (lambda: K.RMSNormalization(), (5, 6)),
    "RNN": (lambda: K.RNN(K.StackedRNNCells([K.GRUCell(3), K.LSTMCell(2)])), (4, 6)),
    "ReLU": (lambda: K.ReLU(), (6,)),
    "RepeatVector": (lambda: K.RepeatVector(3), (6,)),
    "Rescaling": (lambda: K.Rescaling(2.0, 1.0), (4, 4, 3)),
    "Reshape": (lambda: K.Reshape((6, 5)), (5, 6)),
    "Resizing": (lambda: K.Resizing(3, 5), (4, 4, 3)),
    "CenterCrop": (lambda: K.CenterCrop(2, 2), (4, 4, 3)),
    "SeparableConv1D": (lambda: K.SeparableConv1D(4, 3), (6, 3)),
    "SeparableConv2D": (lambda: K.SeparableConv2D(4, 3), (5, 5, 3)),
    "SimpleRNN": (lambda: K.SimpleRNN(3), (5, 6)),
    "Softmax": (lambda: K.Softmax(), (5, 6)),
    "Softmax of an axis": (lambda: K.Softmax(axis=1), (5, 6)),
    "SpatialDropout1D": (lambda: K.SpatialDropout1D(0.5), (5, 6)),
    "SpatialDropout2D": (lambda: K.SpatialDropout2D(0.5), (4, 4, 3)),
    "SpatialDropout3D": (lambda: K.SpatialDropout3D(0.5), (2, 2, 2, 3)),
    "SpectralNormalization": (lambda: K.SpectralNormalization(K.Dense(4)), (6,)),
    "Subtract": (lambda: K.Subtract(), [(5, 6), (5, 6)]),
    "ThresholdedReLU": (lambda: K.ThresholdedReLU(0.5), (6,)),
    "TimeDistributed": (lambda: K.TimeDistributed(K.Dense(3)), (5, 6)),
    "UnitNormalization": (lambda: K.UnitNormalization(), (5, 6)),
}

_SIZES = {1: (6, 3), 2: (5, 5, 3), 3: (4, 4, 4, 3)}
for _n, _shape in _SIZES.items():
    for _name, _options in {
        "Conv%dD": {"filters": 4, "kernel_size": 3, "activation": "relu"},
        "Conv%dDTranspose": {"filters": 2, "kernel_size": 3, "strides": 2},
        "AveragePooling%dD": {"pool_size": 2},
        "MaxPooling%dD": {"pool_size": 2},
        "GlobalAveragePooling%dD": {},
        "GlobalMaxPooling%dD": {},
        "AdaptiveAveragePooling%dD": {"output_size": 2},
        "AdaptiveMaxPooling%dD": {"output_size": 2},
        "UpSampling%dD": {},
        "ZeroPadding%dD": {},
        "Cropping%dD": {"cropping": 1},
    }.items():
        CASES[_name % _n] = (
            lambda name=_name % _n, options=_options: getattr(K, name)(**options),
            _shape,
        )

#: Layers whose inputs are arguments of their own, not one list.
SEPARATE_INPUTS = ("GroupedQueryAttention", "MultiHeadAttention")

#: {layer: why it has no case}
LEFT_OUT = {
    "AbstractRNNCell": "a base class",
    "GRUCell": "a part of RNN",
    "InputLayer": "computes nothing",
    "LSTMCell": "a part of RNN",
    "Layer": "a base class",
    "SimpleRNNCell": "a part of SimpleRNN",
    "StackedRNNCells": "a part of RNN",
    "Wrapper": "a base class",
    "DenseFeatures": "takes feature columns",
    "MelSpectrogram": "prepares input, before replicas",
    "STFTSpectrogram": "prepares input, before replicas",
    "FlaxLayer": "needs another framework",
    "JaxLayer": "needs another framework",
    "TorchModuleWrapper": "needs another framework",
    "TFSMLayer": "reads a SavedModel",
    "Embedding": "takes places: tests/virtual/vectorize/places_cases.py has gathers",
    "ReversibleEmbedding": "takes places: tests/virtual/vectorize/places_cases.py has gathers",
    "CategoryEncoding": "prepares input, before replicas",
    "Discretization": "prepares input, before replicas",
    "HashedCrossing": "prepares input, before replicas",
    "Hashing": "prepares input, before replicas",
    "IntegerLookup": "prepares input, before replicas",
    "StringLookup": "prepares input, before replicas",
    "TextVectorization": "prepares input, before replicas",
    "MaxNumBoundingBoxes": "prepares input, before replicas",
    "Pipeline": "prepares input, before replicas",
}
#: Layers that change images at random, before replicas.
_AT_RANDOM = ("Random", "AugMix", "AutoContrast", "Contrast", "CutMix", "Equal", "MixUp", "Rand")
_AT_RANDOM += ("Solarization",)


def of_this_release():
    """The names of the cases that this release's Keras has layers for."""
    return sorted(name for name in CASES if hasattr(K, name.split()[0]))


def missing():
    """Layers of this release's Keras without a case or a reason; other names of one count once."""
    layers = {
        value.__name__: value
        for value in vars(K).values()
        if isinstance(value, type) and issubclass(value, K.Layer)
    }
    known = {name.split()[0] for name in CASES} | set(LEFT_OUT)
    return sorted(
        name for name in set(layers) - known if not name.startswith(_AT_RANDOM) and name in dir(K)
    )
