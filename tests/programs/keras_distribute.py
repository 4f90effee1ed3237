# A program of 1.12: the strategy is an argument of compile.
import json
import sys

import numpy as np
import tensorflow as tf

BATCH = 16


def main():
    resolver = tf.contrib.cluster_resolver.TPUClusterResolver(sys.argv[1])
    strategy = tf.contrib.distribute.TPUStrategy(resolver, steps_per_run=2)
    inputs = tf.keras.layers.Input(shape=(3,))
    outputs = tf.keras.layers.Dense(1, kernel_initializer="zeros")(inputs)
    model = tf.keras.Model(inputs, outputs)
    model.compile(tf.train.GradientDescentOptimizer(0.1), loss="mse", distribute=strategy)
    rng = np.random.RandomState(0)
    x = rng.rand(64, 3).astype(np.float32)
    y = x.dot(np.array([[1.0], [-2.0], [3.0]], np.float32))
    dataset = tf.data.Dataset.from_tensor_slices((x, y)).repeat().batch(BATCH, drop_remainder=True)
    history = model.fit(dataset, epochs=2, steps_per_epoch=4, verbose=0).history
    print(
        "RESULT "
        + json.dumps(
            {
                "weights": [w.tolist() for w in model.get_weights()],
                "losses": [float(loss) for loss in history["loss"]],
            }
        )
    )


if __name__ == "__main__":
    main()
