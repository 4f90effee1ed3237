"""Models whose estimated memory is compared with what the TPU compiler says."""

import functools

import tensorflow as tf

from tests.benchmarks import compiled_models

layers = tf.keras.layers


def _application(name):
    return getattr(tf.keras.applications, name)(weights=None, classifier_activation=None)


def _sequential(*parts):
    return tf.keras.Sequential(list(parts))


def _mlp():
    return _sequential(
        tf.keras.Input([784]),
        *(layers.Dense(2048, activation="relu") for _ in range(8)),
        layers.Dense(10),
    )


def _cnn():
    return _sequential(
        tf.keras.Input([28, 28, 1]),
        layers.Conv2D(32, 3, activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(64, 3, activation="relu"),
        layers.MaxPooling2D(),
        layers.Flatten(),
        layers.Dropout(0.5),
        layers.Dense(128, activation="relu"),
        layers.Dense(10),
    )


def _unet():
    image, skipped = tf.keras.Input([256, 256, 3]), []
    hidden = image

    def twice(given, filters):
        for _ in range(2):
            given = layers.Conv2D(filters, 3, padding="same", activation="relu")(given)
        return given

    for filters in (32, 64, 128, 256):
        hidden = twice(hidden, filters)
        skipped.append(hidden)
        hidden = layers.MaxPooling2D()(hidden)
    hidden = layers.Conv2D(512, 3, padding="same", activation="relu")(hidden)
    for before in reversed(skipped):
        filters = before.shape[-1]
        hidden = layers.Conv2DTranspose(filters, 2, 2, padding="same")(hidden)
        hidden = twice(layers.Concatenate()([hidden, before]), filters)
    return tf.keras.Model(image, layers.Conv2D(21, 1)(hidden))


def _recommender():
    items = tf.keras.Input([26], dtype="int32")
    hidden = layers.Flatten()(layers.Embedding(2000000, 32)(items))
    for _ in range(3):
        hidden = layers.Dense(512, activation="relu")(hidden)
    return tf.keras.Model(items, layers.Dense(2)(hidden))


def _text():
    words = tf.keras.Input([400], dtype="int32")
    hidden = layers.Embedding(20000, 128)(words)
    hidden = layers.GlobalMaxPooling1D()(layers.Conv1D(256, 5, activation="relu")(hidden))
    return tf.keras.Model(words, layers.Dense(2)(layers.Dense(128, activation="relu")(hidden)))


def _gpt(length=512, width=512, words=32000):
    given = tf.keras.Input([length], dtype="int32")
    places = layers.Embedding(length, width)(tf.range(length))
    hidden = layers.Embedding(words, width)(given) + places
    for _ in range(6):
        normal = layers.LayerNormalization()(hidden)
        attention = layers.MultiHeadAttention(8, width // 8)
        hidden = hidden + attention(normal, normal, use_causal_mask=True)
        wide = layers.Dense(4 * width, activation="gelu")(layers.LayerNormalization()(hidden))
        hidden = hidden + layers.Dense(width)(wide)
    return tf.keras.Model(given, layers.Dense(words)(layers.LayerNormalization()(hidden)))


def _lstm():
    return _sequential(tf.keras.Input([200, 128]), layers.LSTM(512), layers.Dense(10))


def _momentum():
    return tf.keras.optimizers.SGD(0.1, momentum=0.9)


def _batch(rows, shape, dtype="float32", labels=()):
    return tf.TensorSpec([rows, *shape], dtype), tf.TensorSpec([rows, *labels], "int32")


_images = functools.partial(_batch, shape=[224, 224, 3])
_adam = tf.keras.optimizers.Adam

#: {name: (policy, model, optimizer, inputs and labels of one replica)}
MODELS = {
    "mlp": ("float32", _mlp, _adam, _batch(16384, [784])),
    "cnn": ("float32", _cnn, _adam, _batch(8192, [28, 28, 1])),
    "unet": ("float32", _unet, _adam, _batch(16, [256, 256, 3], labels=[256, 256])),
    "recommender": ("float32", _recommender, _adam, _batch(16384, [26], "int32")),
    "text": ("float32", _text, _adam, _batch(2048, [400], "int32")),
    "gpt": ("mixed_bfloat16", _gpt, _adam, _batch(16, [512], "int32", [512])),
    "lstm": ("float32", _lstm, _momentum, _batch(512, [200, 128])),
    "bert": (
        "float32",
        lambda: compiled_models.encoder(128),
        lambda: tf.keras.optimizers.AdamW(1e-4, weight_decay=0.01),
        _batch(64, [128], "int32", [128]),
    ),
    **{
        name: (policy, functools.partial(_application, kind), _momentum, _images(rows))
        for name, policy, kind, rows in (
            ("resnet", "float32", "ResNet50", 64),
            ("resnet_bfloat16", "mixed_bfloat16", "ResNet50", 128),
            ("mobilenet", "float32", "MobileNetV2", 128),
            ("vgg", "float32", "VGG16", 64),
            ("efficientnet", "float32", "EfficientNetB0", 64),
        )
    },
}
