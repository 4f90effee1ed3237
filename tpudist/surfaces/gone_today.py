"""Public names of TensorFlow 1.13 to 2.15 that the newest release has not, and what to type.

`python -m compat.gone_names` compares them with those releases. Names of `tf.contrib` and of
`tpudist.surfaces.gone`, which the drop-ins ask too, stand there, names of TensorFlow 1 alone
in `tpudist.surfaces.first_generation`. A module that is here stands for all below it.
"""

from __future__ import annotations

# fmt: off
_KERAS_2 = "the package tf_keras with TF_USE_LEGACY_KERAS=1, which has it"
_KERAS_2_V1 = _KERAS_2 + " below tf.compat.v1"
_OWN = "copy the few lines that you use"
_LEARNING = "the argument training of a layer's call"
_FUNCTION = "tf.keras.Model(inputs, outputs), or tf.function"
_FIT = "Model.fit, which takes a generator, a keras.utils.PyDataset or a tf.data.Dataset"
_LAYERS = "tf.keras.layers.%s, with other defaults"
_POLICY = "tf.keras.mixed_precision.%s"
_DEBUG = "the raw op without GradAccumDebug"
_V1 = "tf.compat.v1.%s"

_REGNETS = [
    kind + size
    for kind in "XY"
    for size in "002 004 006 008 016 032 040 064 080 120 160 320".split()
]
_OPTIMIZER = ("the class of the same name of tf.keras.optimizers", _KERAS_2)
_OPTIMIZERS: dict[str, str | tuple[str, str]] = {
    "experimental legacy.Adadelta legacy.Adamax legacy.Nadam": _OPTIMIZER
}

#: {names above: {names: (what to type, what has it still)}}.
_TABLE: dict[str, dict[str, str | tuple[str, str]]] = {
    "": {
        "executing_eagerly_outside_functions": _V1 % "executing_eagerly_outside_functions",
        "mixed_precision": "tf.keras.mixed_precision; that of TensorFlow 1 is "
                           "tf.compat.v1.mixed_precision",
        "pywrap_tensorflow": "tf.train.load_checkpoint for NewCheckpointReader; other names are "
                             "no public API",
        "quantize_and_dequantize_v4": "tf.quantization.quantize_and_dequantize_v2",
        "tsl": "no public API",
    },
    "config.experimental": {
        "disable_mlir_graph_optimization enable_mlir_graph_optimization":
            "nothing: TensorFlow has no such switch",
    },
    "autograph.experimental": {
        "Verbosity": "tf.autograph.set_verbosity, which takes a number",
    },
    "losses": {
        "mean_squared_error": "tf.keras.losses.MSE; that of TensorFlow 1 is "
                              "tf.compat.v1.losses.mean_squared_error",
    },
    "metrics": {
        "experimental": ("a class below tf.keras.metrics.Metric", _KERAS_2),
        "MeanRelativeError MeanTensor": ("a class below tf.keras.metrics.Metric", _KERAS_2),
        "mean_absolute_error": "tf.keras.losses.MAE; that of TensorFlow 1 is "
                               "tf.compat.v1.metrics.mean_absolute_error",
        "mean_squared_error": "tf.keras.losses.MSE; that of TensorFlow 1 is "
                              "tf.compat.v1.metrics.mean_squared_error",
    },
    "lookup.experimental": {
        "DatasetInitializer": "tf.data.experimental.DatasetInitializer",
    },
    "raw_ops": {
        "CompareAndBitpack": "tf.bitwise",
        "LoadTPUEmbeddingFrequencyEstimatorParametersGradAccumDebug "
        "LoadTPUEmbeddingProximalYogiParametersGradAccumDebug "
        "LoadTPUEmbeddingStochasticGradientDescentParametersGradAccumDebug "
        "RetrieveTPUEmbeddingFrequencyEstimatorParametersGradAccumDebug "
        "RetrieveTPUEmbeddingProximalYogiParametersGradAccumDebug "
        "RetrieveTPUEmbeddingStochasticGradientDescentParametersGradAccumDebug "
        "LoadTPUEmbeddingADAMParametersGradAccumDebug "
        "LoadTPUEmbeddingAdadeltaParametersGradAccumDebug "
        "LoadTPUEmbeddingAdagradParametersGradAccumDebug "
        "LoadTPUEmbeddingFTRLParametersGradAccumDebug "
        "LoadTPUEmbeddingMomentumParametersGradAccumDebug "
        "LoadTPUEmbeddingProximalAdagradParametersGradAccumDebug "
        "LoadTPUEmbeddingRMSPropParametersGradAccumDebug "
        "RetrieveTPUEmbeddingADAMParametersGradAccumDebug "
        "RetrieveTPUEmbeddingAdadeltaParametersGradAccumDebug "
        "RetrieveTPUEmbeddingAdagradParametersGradAccumDebug "
        "RetrieveTPUEmbeddingFTRLParametersGradAccumDebug "
        "RetrieveTPUEmbeddingMomentumParametersGradAccumDebug "
        "RetrieveTPUEmbeddingProximalAdagradParametersGradAccumDebug "
        "RetrieveTPUEmbeddingRMSPropParametersGradAccumDebug": _DEBUG,
    },
    "test": {"mock": "unittest.mock"},
    "tpu": {"PaddingSpec": _V1 % "tpu.PaddingSpec"},
    "tpu.experimental": {
        "embedding_column shared_embedding_columns":
            "the names of tf.compat.v1.tpu.experimental, or tf.tpu.experimental.embedding",
    },
    "train.experimental": {
        "MixedPrecisionLossScaleOptimizer": _POLICY % "LossScaleOptimizer",
    },
    "keras": {
        "dtensor": ("tf.distribute", _KERAS_2),
        "saving": ("tf.keras.models for load_model and save_model, tf.keras.utils for the rest",
                   _KERAS_2),
        "estimator": "Model.fit with a strategy; for Estimators tpudist run, or "
                     "from tpudist.contrib import tensorflow as tf",
        "experimental": "keras.optimizers.schedules for its schedules; " + _OWN + " else",
    },
    "keras.applications": {
        " ".join("RegNet" + each for each in _REGNETS) + " regnet": ("keras_cv", _KERAS_2),
        "ResNetRS50 ResNetRS101 ResNetRS152 ResNetRS200 ResNetRS270 ResNetRS350 ResNetRS420 "
        "resnet_rs": ("keras_cv", _KERAS_2),
    },
    "keras.backend": {
        "binary_weighted_focal_crossentropy": (
            "tf.keras.losses.BinaryFocalCrossentropy(apply_class_balancing=True)", _KERAS_2),
        "experimental": ("nothing: Keras 3 draws from seeds alone", _KERAS_2),
        "function": (_FUNCTION, _KERAS_2),
        "get_session": ("tf.compat.v1.Session of your own where graphs stay; nothing where code "
                        "runs eagerly", _KERAS_2_V1),
        "set_session": ("tf.config (tf.config.experimental.set_memory_growth for allow_growth, "
                        "...)", _KERAS_2_V1),
        "in_test_phase in_train_phase learning_phase learning_phase_scope set_learning_phase":
            (_LEARNING, _KERAS_2),
        "local_conv1d local_conv2d": (_OWN, _KERAS_2),
        "manual_variable_initialization": ("nothing: variables are initialized as they are made",
                                           _KERAS_2),
        "normalize_batch_in_training": ("tf.nn.moments and tf.nn.batch_normalization", _KERAS_2),
        "placeholder": ("tf.keras.Input", _KERAS_2),
        "print_tensor": ("tf.print", _KERAS_2),
        "random_binomial": ("tf.keras.backend.random_bernoulli", _KERAS_2),
        "reset_uids": ("tf.keras.backend.clear_session", _KERAS_2),
    },
    "keras.callbacks": {
        "BaseLogger": ("nothing: Model.fit averages metrics itself", _KERAS_2),
        "SidecarEvaluatorModelExport": ("a callback of your own", _KERAS_2),
        "experimental": ("tf.keras.callbacks.BackupAndRestore", _KERAS_2),
    },
    "keras.constraints": {
        "RadialConstraint radial_constraint": ("a class below tf.keras.constraints.Constraint",
                                               _KERAS_2),
    },
    "keras.experimental": {
        "LinearCosineDecay NoisyLinearCosineDecay":
            "a class below tf.keras.optimizers.schedules.LearningRateSchedule",
        "LinearModel SequenceFeatures WideDeepModel": ("a tf.keras.Model of your own", _KERAS_2),
        "PeepholeLSTMCell": "a cell of your own for tf.keras.layers.RNN",
        "export_saved_model": "model.export, or tf.saved_model.save",
        "load_from_saved_model": "tf.saved_model.load, or tf.keras.layers.TFSMLayer",
        "terminate_keras_multiprocessing_pools": "nothing: Keras ends its processes itself",
    },
    "keras.initializers": {
        "normal": ("tf.keras.initializers.RandomNormal, without dtype", _KERAS_2_V1),
        "uniform": ("tf.keras.initializers.RandomUniform, without dtype", _KERAS_2_V1),
    },
    "keras.layers": {
        "AbstractRNNCell": ("a tf.keras.layers.Layer with state_size and call", _KERAS_2),
        "CuDNNGRU": (_LAYERS % "GRU" + " of positional arguments, which uses cuDNN where it can",
                     _KERAS_2_V1),
        "CuDNNLSTM": (_LAYERS % "LSTM" + " of positional arguments, which uses cuDNN where it can",
                      _KERAS_2_V1),
        "DenseFeatures": ("tf.keras.utils.FeatureSpace", _KERAS_2),
        "LocallyConnected1D LocallyConnected2D": ("a layer of your own", _KERAS_2),
        "disable_v2_dtype_behavior enable_v2_dtype_behavior": (
            "tf.keras.config.set_floatx; layers cast as TensorFlow 2's do", _KERAS_2_V1),
        "experimental": ("the layer of the same name of tf.keras.layers; its defaults may be "
                         "others", _KERAS_2),
    },
    "keras.layers.experimental": {
        "SyncBatchNormalization": ("tf.keras.layers.BatchNormalization(synchronized=True)",
                                   _KERAS_2),
    },
    "keras.metrics": {
        "experimental": ("a class below tf.keras.metrics.Metric", _KERAS_2),
        "MeanRelativeError MeanTensor": ("a class below tf.keras.metrics.Metric", _KERAS_2),
    },
    "keras.mixed_precision": {"experimental": _POLICY % "Policy, without loss_scale"},
    "keras.mixed_precision.experimental": {
        "LossScaleOptimizer": _POLICY % "LossScaleOptimizer, which has its own loss scale",
        "get_layer_policy": "layer.dtype_policy",
    },
    "keras.models": {
        "LinearModel WideDeepModel": ("a tf.keras.Model of your own", _KERAS_2),
        "experimental": ("tf.keras.layers.SharpnessAwareMinimization's few lines", _KERAS_2),
        "model_from_config": ("tf.keras.layers.deserialize, or Model.from_config", _KERAS_2),
        "model_from_yaml": "tf.keras.models.model_from_json, and model.to_json",
    },
    "keras.optimizers": _OPTIMIZERS,
    "optimizers": _OPTIMIZERS,
    "keras.utils": {
        "DeterministicRandomTestTool get_or_create_layer track_tf1_style_variables":
            ("layers of Keras, which track their variables", _KERAS_2),
        "SidecarEvaluator StepsPerExecutionTuner TimedThread warmstart_embedding_matrix":
            (_OWN, _KERAS_2),
        "experimental": ("tf.keras.utils.PyDataset", _KERAS_2),
        "to_ordinal": ("numpy.arange(num_classes - 1) < numpy.asarray(labels)[..., None]",
                       _KERAS_2),
        "GeneratorEnqueuer OrderedEnqueuer SequenceEnqueuer": (_FIT, _KERAS_2),
        "HDF5Matrix": "h5py.File(path)[dataset]",
        "convert_all_kernels_in_model": "nothing: kernels of Theano are no more",
        "multi_gpu_model": "tf.distribute.MirroredStrategy",
    },
    "keras.wrappers": {"scikit_learn": "the package scikeras, or keras.wrappers.SKLearnClassifier"},
}
# fmt: on


def _words(told: str | tuple[str, str]) -> str:
    return told if isinstance(told, str) else "%s; or %s" % told


#: {dotted name below ``tf``: what to type instead}.
GONE_TODAY = {
    (group + "." + name).lstrip("."): _words(told)
    for group, every in _TABLE.items()
    for names, told in every.items()
    for name in names.split()
}

#: Names that are there and that Keras 3 refuses to make, and what to type.
KERAS_REFUSES = {
    above + "optimizers.legacy." + name: _words(_OPTIMIZER)
    for above in ("", "keras.")
    for name in ("Adagrad", "Adam", "Ftrl", "Optimizer", "RMSprop", "SGD")
}

#: Names of 1.13 to 2.0 that 2.2 has not either, and what to type there.
GONE_BY_2_2 = {
    "autograph.experimental.Verbosity": _TABLE["autograph.experimental"]["Verbosity"],
    "config.experimental_list_devices": "tf.config.list_logical_devices",
    "data.experimental.NestedStructure": "tf.nest, which reads the structure itself",
    "data.experimental.filter_for_shard": "dataset.shard(num_shards, index)",
    "keras.experimental.export_saved_model": "tf.saved_model.save",
    "keras.experimental.load_from_saved_model": "tf.keras.models.load_model",
    "pywrap_tensorflow": _TABLE[""]["pywrap_tensorflow"],
}
#: What of them its ``tf.compat.v1`` has.
GONE_BY_2_2_BUT_V1 = frozenset(
    ("keras.experimental.export_saved_model", "keras.experimental.load_from_saved_model")
)

#: What of it, and of `tpudist.surfaces.gone`, ``tf.compat.v1`` has still.
KEPT_IN_V1 = frozenset(
    """executing_eagerly_outside_functions losses.mean_squared_error
    metrics.mean_absolute_error metrics.mean_squared_error mixed_precision
    mixed_precision.experimental test.mock
    tpu.PaddingSpec tpu.experimental.embedding_column tpu.experimental.shared_embedding_columns
    train.experimental.DynamicLossScale train.experimental.FixedLossScale
    train.experimental.LossScale train.experimental.MixedPrecisionLossScaleOptimizer
    train.experimental.disable_mixed_precision_graph_rewrite
    train.experimental.enable_mixed_precision_graph_rewrite""".split()
)

_FUNCTIONS = {
    "mean_absolute_error": "MAE",
    "mean_absolute_percentage_error": "MAPE",
    "mean_squared_error": "MSE",
    "mean_squared_logarithmic_error": "MSLE",
    "kl_divergence": "KLD",
    "log_cosh": "logcosh",
}
_PREPROCESSING = "keras.layers.experimental.preprocessing."
_OLD_POLICY = "keras.mixed_precision.experimental."

#: Names that the newest release has under another one, the same otherwise: {old: new}.
RENAMED_TODAY = {
    **{"keras.losses." + old: "keras.losses." + new for old, new in _FUNCTIONS.items()},
    **{"keras.metrics." + old: "keras.metrics." + new for old, new in _FUNCTIONS.items()},
    **{
        module + "." + old: "keras.%s.%s" % (module, new)
        for module in ("losses", "metrics")
        for old, new in _FUNCTIONS.items()
        if module + "." + old not in GONE_TODAY
    },
    **{
        "keras.%s.%s" % (module, old): "keras.losses.cosine_similarity"
        for module in ("losses", "metrics")
        for old in ("cosine", "cosine_proximity")
    },
    **{
        "keras.experimental." + name: "keras.optimizers.schedules." + name
        for name in ("CosineDecay", "CosineDecayRestarts")
    },
    **{
        _PREPROCESSING + name: "keras.layers." + name
        for name in ("CenterCrop", "RandomFlip", "Rescaling", "Resizing")
    },
    _OLD_POLICY + "global_policy": "keras.mixed_precision.global_policy",
    _OLD_POLICY + "set_policy": "keras.mixed_precision.set_global_policy",
}
