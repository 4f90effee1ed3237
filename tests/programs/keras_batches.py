# A program of 2019: tf.keras in a strategy's scope, fed batch by batch; handwritten digits.
import argparse
import gzip
import json
import os

import numpy as np
import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument("--tpu", default=None)
parser.add_argument("--data", default=None)
parser.add_argument("--model_dir", default=None)
parser.add_argument("--tensorboard", action="store_true")
FLAGS = parser.parse_args()

BATCH_SIZE = 64


def load_data(path):
    with gzip.open(path, "rt") as f:
        rows = np.loadtxt(f, delimiter=",", dtype=np.float32)
    rows = rows[np.random.RandomState(0).permutation(len(rows))]
    x = (rows[:, :64] / 16).reshape(-1, 8, 8, 1).astype(np.float32)
    return x[:256], rows[:256, 64:].astype(np.float32)


def create_model():
    model = tf.keras.models.Sequential()
    model.add(tf.keras.layers.Conv2D(4, 3, activation="elu", input_shape=(8, 8, 1)))
    model.add(tf.keras.layers.Flatten())
    model.add(tf.keras.layers.Dense(10, activation="softmax"))
    model.compile(
        optimizer=tf.keras.optimizers.SGD(0.05),
        loss="sparse_categorical_crossentropy",
        metrics=["sparse_categorical_accuracy"],
    )
    rng = np.random.RandomState(1)
    model.set_weights(
        [
            rng.uniform(0.2, 0.6, w.shape).astype(np.float32) * rng.choice([-1, 1], w.shape)
            if w.ndim > 1
            else w
            for w in model.get_weights()
        ]
    )
    return model


def generator(x, y):
    while True:
        for start in range(0, len(x), BATCH_SIZE):
            yield x[start : start + BATCH_SIZE], y[start : start + BATCH_SIZE]


class Losses(tf.keras.callbacks.Callback):
    def __init__(self):
        super().__init__()
        self.losses = []

    def on_epoch_end(self, epoch, logs=None):
        self.losses.append(float(logs["loss"]))


def get_strategy():
    if not FLAGS.tpu:
        return tf.distribute.get_strategy()
    resolver = tf.contrib.cluster_resolver.TPUClusterResolver(FLAGS.tpu)
    return tf.contrib.distribute.TPUStrategy(resolver, steps_per_run=1)


def main():
    x, y = load_data(FLAGS.data)
    strategy = get_strategy()
    with strategy.scope():
        model = create_model()
    found = {"train": [], "fit": Losses(), "weights": Losses()}
    for start in range(0, len(x), BATCH_SIZE):
        stop = start + BATCH_SIZE
        logs = model.train_on_batch(x[start:stop], y[start:stop])
        found["train"].append(float(logs[0]))
    found["test"] = [float(v) for v in model.test_on_batch(x[:32], y[:32])]
    found["predict"] = np.asarray(model.predict_on_batch(x[:32]))[0].tolist()
    callbacks = [
        found["fit"],
        tf.keras.callbacks.ReduceLROnPlateau(
            monitor="loss", factor=0.5, patience=1, min_delta=10.0
        ),
    ]
    if FLAGS.tensorboard:
        callbacks.append(tf.keras.callbacks.TensorBoard(FLAGS.model_dir))
    model.fit_generator(
        generator(x, y), steps_per_epoch=4, epochs=3, verbose=0, callbacks=callbacks
    )
    with strategy.scope():
        model = create_model()
    model.fit(
        x,
        y,
        epochs=2,
        batch_size=BATCH_SIZE,
        shuffle=False,
        verbose=0,
        sample_weight=np.linspace(0.5, 1.5, len(x)),
        callbacks=[found["weights"]],
    )
    found["fit"], found["weights"] = found["fit"].losses, found["weights"].losses
    found["events"] = any("events" in n for _, _, names in os.walk(FLAGS.model_dir) for n in names)
    print("RESULT " + json.dumps(found))


if __name__ == "__main__":
    main()
