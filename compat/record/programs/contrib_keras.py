"""Keras under ``compile(distribute=strategy)`` of 1.12: a whole batch for each tower."""

import numpy as np

ERA = "contrib"
#: Whether it gives ``compile`` a strategy, which Keras takes in a program of TensorFlow 1 alone.
KERAS = True

ROWS, BATCH = 64, 8


def main(tf, strategy, run, show):
    del run  # Keras has a Session of its own.
    x = np.arange(ROWS, dtype=np.float32).reshape(ROWS, 1) / ROWS

    def batches(rows=ROWS, labels=True):
        arrays = (x[:rows], 2.0 * x[:rows] + 1.0) if labels else x[:rows]
        dataset = tf.data.Dataset.from_tensor_slices(arrays)
        return dataset.batch(BATCH, drop_remainder=True)

    def compiled(rate):
        layer = tf.keras.layers.Dense(1, kernel_initializer="zeros", input_shape=(1,))
        model = tf.keras.Sequential([layer])
        optimizer = tf.train.GradientDescentOptimizer(rate)
        model.compile(optimizer, "mse", metrics=["mae"], distribute=strategy)
        return model

    def show_fit(what, dataset, rate=0.1, **kwargs):
        model = compiled(rate)
        history = model.fit(dataset, verbose=0, **kwargs).history
        show(what + ": weights", [np.ravel(each) for each in model.get_weights()])
        show(what + ": losses", [history[name] for name in sorted(history) if "loss" in name])
        return model

    show_fit("one step", batches(), epochs=1, steps_per_epoch=1)
    show_fit("two epochs", batches(), epochs=2, steps_per_epoch=2)
    show_fit(
        "validation",
        batches(),
        rate=0.0,  # 1.12 validates what was there before the training, and goes on from there.
        epochs=1,
        steps_per_epoch=4,
        validation_data=batches(),
        validation_steps=3,
    )
    # Three batches: a second step would leave the second tower without one, and is not done.
    model = show_fit("the data ends", batches(rows=24), epochs=1, steps_per_epoch=2)
    show("evaluate", model.evaluate(batches(), steps=3, verbose=0))
    # 1.12 returns what each tower predicted; the rows are the same.
    predicted = model.predict(batches(labels=False), steps=3)
    show("predict", sorted(np.ravel(np.concatenate(list(predicted))).tolist()))
