# A notebook of 2018: a compiled model, converted for the TPU; handwritten digits.
import argparse
import gzip
import json
import os

import numpy as np
import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument("--tpu", default="")
parser.add_argument("--data", default=None)
parser.add_argument("--model_dir", default=None)
FLAGS = parser.parse_args()

BATCH_SIZE = 64
CORES = 8


def load_data(path):
    with gzip.open(path, "rt") as f:
        rows = np.loadtxt(f, delimiter=",", dtype=np.float32)
    rows = rows[np.random.RandomState(0).permutation(len(rows))]
    x = (rows[:, :64] / 16).reshape(-1, 8, 8, 1).astype(np.float32)
    y = rows[:, 64:].astype(np.float32)
    return (x[:256], y[:256]), (x[1536:1664], y[1536:1664])


(x_train, y_train), (x_test, y_test) = load_data(FLAGS.data)


def set_weights(model):
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


def to_tpu(model):
    if not FLAGS.tpu:
        return model
    strategy = tf.contrib.tpu.TPUDistributionStrategy(
        tf.contrib.cluster_resolver.TPUClusterResolver(FLAGS.tpu)
    )
    return tf.contrib.tpu.keras_to_tpu_model(model, strategy=strategy)


def create_model(optimizer):
    model = tf.keras.models.Sequential()
    regularizer = tf.keras.regularizers.l2(0.01)
    model.add(
        tf.keras.layers.Conv2D(
            4, 3, activation="elu", kernel_regularizer=regularizer, input_shape=(8, 8, 1)
        )
    )
    model.add(tf.keras.layers.Flatten())
    model.add(tf.keras.layers.Dense(10, activation="softmax"))
    model.compile(
        optimizer=optimizer,
        loss="sparse_categorical_crossentropy",
        metrics=["sparse_categorical_accuracy"],
    )
    return set_weights(model)


class Losses(tf.keras.callbacks.Callback):
    def __init__(self):
        super().__init__()
        self.losses = []

    def on_batch_end(self, batch, logs=None):
        self.losses.append(float(logs["loss"]))


def input_fn(rows, labels):
    # A batch of this dataset is one core's.
    batch = BATCH_SIZE // CORES if FLAGS.tpu else BATCH_SIZE
    dataset = tf.data.Dataset.from_tensor_slices((rows, labels)).repeat()
    dataset = dataset.batch(batch, drop_remainder=True)
    return dataset


def as_input(rows, labels):
    return (lambda: input_fn(rows, labels)) if FLAGS.tpu else input_fn(rows, labels)


def generator():
    while True:
        for start in range(0, len(x_train), BATCH_SIZE):
            stop = start + BATCH_SIZE
            yield x_train[start:stop], y_train[start:stop]


def numbers(values):
    return [float(value) for value in values]


def train_with_arrays(found):
    model = to_tpu(create_model(tf.keras.optimizers.SGD(0.05, momentum=0.9)))
    losses = Losses()
    path = os.path.join(FLAGS.model_dir, "weights-{epoch:02d}.h5")
    history = model.fit(
        x_train,
        y_train,
        epochs=2,
        batch_size=BATCH_SIZE,
        shuffle=False,
        verbose=0,
        validation_data=(x_test, y_test),
        callbacks=[
            losses,
            tf.keras.callbacks.ModelCheckpoint(path, save_weights_only=True),
            tf.keras.callbacks.LearningRateScheduler(lambda epoch: 0.05 / (1 + epoch)),
        ],
    ).history
    found["losses"] = losses.losses
    found["history"] = [numbers(history[k]) for k in sorted(history) if k != "lr"]
    found["train_on_batch"] = numbers(model.train_on_batch(x_train[:32], y_train[:32]))
    found["test_on_batch"] = numbers(model.test_on_batch(x_test[:32], y_test[:32]))
    found["predict"] = model.predict(x_test[:32], batch_size=16).sum(axis=0).tolist()
    found["predict_on_batch"] = model.predict_on_batch(x_test[:16])[0].tolist()
    found["saved"] = sorted(os.listdir(FLAGS.model_dir))


def train_with_functions(found):
    model = to_tpu(create_model(tf.train.MomentumOptimizer(0.05, 0.9)))
    losses = Losses()
    model.fit_generator(generator(), steps_per_epoch=4, epochs=1, verbose=0, callbacks=[losses])
    history = model.fit(
        as_input(x_train, y_train),
        steps_per_epoch=4,
        epochs=2,
        verbose=0,
        validation_data=as_input(x_test, y_test),
        validation_steps=2,
        callbacks=[losses],
    ).history
    found["losses_of_functions"] = losses.losses
    found["history_of_functions"] = [numbers(history[k]) for k in sorted(history)]
    found["evaluate"] = numbers(model.evaluate(as_input(x_test, y_test), steps=2, verbose=0))
    # The weights in a model of the CPU's, and back.
    path = os.path.join(FLAGS.model_dir, "final.h5")
    model.save_weights(path, overwrite=True)
    plain = create_model(tf.keras.optimizers.SGD(0.05))
    plain.load_weights(path)
    found["plain"] = numbers(plain.evaluate(x_test, y_test, batch_size=BATCH_SIZE, verbose=0))
    cpu_model = model.sync_to_cpu() if FLAGS.tpu else model
    found["cpu"] = numbers(cpu_model.evaluate(x_test[:3], y_test[:3], verbose=0))
    set_weights(model)
    model.load_weights(path)
    again = model.evaluate(x_test, y_test, batch_size=BATCH_SIZE, verbose=0)
    found["again"] = numbers(again)


def train_with_weights(found):
    model = to_tpu(create_model(tf.keras.optimizers.SGD(0.05)))
    history = model.fit(
        x_train,
        y_train,
        batch_size=BATCH_SIZE,
        shuffle=False,
        verbose=0,
        sample_weight=np.linspace(0.5, 1.5, len(x_train)),
    ).history
    found["sample_weight"] = numbers(history["loss"])


def predict_with_states(found):
    rows = tf.keras.Input(name="seed", shape=(1,), batch_size=5, dtype=tf.int32)
    values = tf.keras.layers.Embedding(16, 4)(rows)
    values = tf.keras.layers.LSTM(4, stateful=True, return_sequences=True)(values)
    values = tf.keras.layers.TimeDistributed(tf.keras.layers.Dense(3))(values)
    model = tf.keras.Model(inputs=[rows], outputs=[values])
    model.compile(
        tf.train.RMSPropOptimizer(learning_rate=0.01), loss="sparse_categorical_crossentropy"
    )
    model = to_tpu(set_weights(model))
    model.reset_states()
    words = np.arange(5).reshape(5, 1)
    found["states"] = [np.asarray(model.predict(words)).sum().tolist() for _ in range(3)]


def normalize(found):
    model = tf.keras.models.Sequential()
    model.add(tf.keras.layers.BatchNormalization(momentum=0.5, input_shape=(8, 8, 1)))
    model.add(tf.keras.layers.Flatten())
    model.add(tf.keras.layers.Dense(10, activation="softmax"))
    model.compile(tf.train.AdamOptimizer(0.01), loss="sparse_categorical_crossentropy")
    model = to_tpu(model)
    model.fit(x_train, y_train, batch_size=BATCH_SIZE, shuffle=False, verbose=0)
    found["moving_mean"] = model.get_weights()[2].tolist()


def main():
    found = {}
    train_with_arrays(found)
    train_with_functions(found)
    train_with_weights(found)
    predict_with_states(found)
    normalize(found)
    print("RESULT " + json.dumps(found))


if __name__ == "__main__":
    main()
