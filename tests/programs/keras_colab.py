# A notebook of 2019: tf.keras under contrib's TPUStrategy, handwritten digits.
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
parser.add_argument("--optimizer", default="keras")
FLAGS = parser.parse_args()

BATCH_SIZE = 64
EPOCHS = 2


def load_data(path):
    with gzip.open(path, "rt") as f:
        rows = np.loadtxt(f, delimiter=",", dtype=np.float32)
    rows = rows[np.random.RandomState(0).permutation(len(rows))]
    x = (rows[:, :64] / 16).reshape(-1, 8, 8, 1).astype(np.float32)
    y = rows[:, 64:].astype(np.float32)
    return (x[:256], y[:256]), (x[1536:1664], y[1536:1664])


def get_strategy():
    resolver = tf.contrib.cluster_resolver.TPUClusterResolver(FLAGS.tpu)
    tf.contrib.distribute.initialize_tpu_system(resolver)
    return tf.contrib.distribute.TPUStrategy(resolver)


def get_optimizer():
    if FLAGS.optimizer == "tf.train":
        return tf.train.MomentumOptimizer(0.05, 0.9)
    return tf.keras.optimizers.SGD(0.05, momentum=0.9)


def create_model():
    model = tf.keras.models.Sequential()
    model.add(tf.keras.layers.Conv2D(4, 3, activation="elu", input_shape=(8, 8, 1)))
    model.add(tf.keras.layers.BatchNormalization(momentum=0.9))
    model.add(tf.keras.layers.Flatten())
    model.add(tf.keras.layers.Dense(10, activation="softmax"))
    return model


def compile_model(model):
    model.compile(
        optimizer=get_optimizer(),
        loss="sparse_categorical_crossentropy",
        metrics=["sparse_categorical_accuracy"],
    )
    return model


class Losses(tf.keras.callbacks.Callback):
    def __init__(self):
        super().__init__()
        self.losses = []

    def on_batch_end(self, batch, logs=None):
        self.losses.append(float(logs["loss"]))


def schedule(epoch):
    return 0.05 / (1 + epoch)


def main():
    (x, y), (test_x, test_y) = load_data(FLAGS.data)
    with get_strategy().scope():
        model = compile_model(create_model())
    rng = np.random.RandomState(1)
    start = [
        rng.uniform(0.2, 0.6, w.shape).astype(np.float32) * rng.choice([-1, 1], w.shape)
        if w.ndim > 1
        else w
        for w in model.get_weights()
    ]
    model.set_weights(start)

    losses = Losses()
    path = os.path.join(FLAGS.model_dir, "weights-{epoch:02d}.h5")
    callbacks = [losses, tf.keras.callbacks.ModelCheckpoint(path, save_weights_only=True)]
    if FLAGS.optimizer == "keras":
        callbacks.append(tf.keras.callbacks.LearningRateScheduler(schedule))
    history = model.fit(
        x,
        y,
        epochs=EPOCHS,
        batch_size=BATCH_SIZE,
        shuffle=False,
        verbose=0,
        validation_data=(test_x, test_y),
        callbacks=callbacks,
    ).history

    def input_fn():
        dataset = tf.data.Dataset.from_tensor_slices((x, y))
        return dataset.repeat().batch(BATCH_SIZE, drop_remainder=True)

    again = Losses()
    model.fit(input_fn(), epochs=1, steps_per_epoch=3, verbose=0, callbacks=[again])
    test = model.evaluate(test_x, test_y, batch_size=BATCH_SIZE, verbose=0)
    predicted = model.predict(test_x, batch_size=BATCH_SIZE)

    # The weights in a model without a strategy, and back.
    path = os.path.join(FLAGS.model_dir, "final.h5")
    model.save_weights(path)
    plain = compile_model(create_model())
    plain.load_weights(path)
    here = plain.evaluate(test_x, test_y, batch_size=BATCH_SIZE, verbose=0)
    model.set_weights(start)
    model.load_weights(path)
    back = model.evaluate(test_x, test_y, batch_size=BATCH_SIZE, verbose=0)
    found = {
        "losses": losses.losses + again.losses,
        "history": [[float(v) for v in history[k]] for k in sorted(history) if k != "lr"],
        "evaluate": [float(v) for v in test],
        "evaluate_plain": [float(v) for v in here],
        "evaluate_again": [float(v) for v in back],
        "predicted": np.asarray(predicted).sum(axis=0).tolist(),
        "rows": len(predicted),
        "weights": [float(np.abs(w).sum()) for w in model.get_weights()],
        "saved": sorted(os.listdir(FLAGS.model_dir)),
    }
    print("RESULT " + json.dumps(found))


if __name__ == "__main__":
    main()
