"""The models whose compilation is measured: one step of each, for the TPU compiler."""

import functools

import tensorflow as tf

from tests.tools.compile import harness, nets

#: Of BERT-base.
_LAYERS, _WIDTH, _HEADS, _WORDS = 12, 768, 12, 30522

#: Of the recurrent net.
_UNITS, _FEATURES, _CLASSES = 512, 128, 10


def training_step(model, optimizer):
    """A replica function: one training step of a model that ends in logits; returns the loss."""

    def step(given, wanted):
        with tf.GradientTape() as tape:
            logits = tf.cast(model(given, training=True), tf.float32)
            loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(labels=wanted, logits=logits)
            )
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))  # reduces them
        return loss

    return step


def _trained(replicas, model_of, optimizer_of, inputs, labels):
    """Lowers one training step of a Keras model, when it is called.

    Args:
      replicas: of the program.
      model_of, optimizer_of: make the model, which ends in logits, and its optimizer.
      inputs, labels: ``tf.TensorSpec`` of one replica's batch.
    """
    strategy = harness.strategy(replicas)
    with strategy.scope():
        model, optimizer = model_of(), optimizer_of()
        optimizer.build(model.trainable_variables)
    step = training_step(model, optimizer)
    return functools.partial(harness.lower, strategy, step, inputs, labels)


def _images(name, dtype):
    """A net of Keras' applications with momentum: a function of replicas and batch."""

    def lowering(replicas, batch):
        tf.keras.mixed_precision.set_global_policy(dtype)
        return _trained(
            replicas,
            lambda: getattr(tf.keras.applications, name)(weights=None, classifier_activation=None),
            lambda: tf.keras.optimizers.SGD(0.1, momentum=0.9),
            tf.TensorSpec([batch, 224, 224, 3], tf.float32),
            tf.TensorSpec([batch], tf.int32),
        )

    return lowering


def _bert(replicas, batch, length=128):
    """BERT-base that predicts words, with AdamW."""
    return _trained(
        replicas,
        lambda: encoder(length),
        lambda: tf.keras.optimizers.AdamW(1e-4, weight_decay=0.01),
        tf.TensorSpec([batch, length], tf.int32),
        tf.TensorSpec([batch, length], tf.int32),
    )


def encoder(length):
    layers = tf.keras.layers
    words = tf.keras.Input([length], dtype="int32")
    places = layers.Embedding(length, _WIDTH)(tf.range(length))
    hidden = layers.LayerNormalization()(layers.Embedding(_WORDS, _WIDTH)(words) + places)
    for _ in range(_LAYERS):
        seen = layers.MultiHeadAttention(_HEADS, _WIDTH // _HEADS, dropout=0.1)(hidden, hidden)
        hidden = layers.LayerNormalization()(hidden + layers.Dropout(0.1)(seen))
        wide = layers.Dense(4 * _WIDTH, activation="gelu")(hidden)
        hidden = layers.LayerNormalization()(
            hidden + layers.Dropout(0.1)(layers.Dense(_WIDTH)(wide))
        )
    return tf.keras.Model(words, layers.Dense(_WORDS)(hidden))


def _lstm(replicas, batch, length=1000):
    """A recurrent net with momentum, unrolled by a loop."""
    return _trained(
        replicas,
        lambda: tf.keras.Sequential(
            [
                tf.keras.Input([length, _FEATURES]),
                tf.keras.layers.LSTM(_UNITS),
                tf.keras.layers.Dense(_CLASSES),
            ]
        ),
        lambda: tf.keras.optimizers.SGD(0.1, momentum=0.9),
        tf.TensorSpec([batch, length, _FEATURES], tf.float32),
        tf.TensorSpec([batch], tf.int32),
    )


def _convolution(replicas, batch):
    return functools.partial(nets.convolution, replicas, batch)


#: {name: function of the number of replicas and the batch of one, which returns a
#: function that lowers one step}.
MODELS = {
    "convolution": _convolution,
    "resnet50": _images("ResNet50", "mixed_bfloat16"),
    "resnet50_float32": _images("ResNet50", "float32"),
    "efficientnet_b0": _images("EfficientNetB0", "float32"),
    "mobilenet_v2": _images("MobileNetV2", "float32"),
    "bert_base": _bert,
    "lstm": _lstm,
}
