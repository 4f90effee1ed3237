# A model is saved, and loaded in the strategy's scope; with "weights" its weights alone are.
import os
import sys
import tempfile

import numpy as np
import tensorflow as tf

keras = tf.keras


def main():
    resolver = tf.contrib.cluster_resolver.TPUClusterResolver(sys.argv[1])
    strategy = tf.contrib.distribute.TPUStrategy(resolver)
    path = os.path.join(tempfile.mkdtemp(), "model.h5")
    with strategy.scope():
        model = keras.Sequential([keras.layers.Dense(1, input_shape=(3,))])
        model.compile(optimizer=keras.optimizers.Adam(0.1), loss="mse")
    rows = np.random.RandomState(0).randn(64, 3).astype(np.float32)
    labels = rows.sum(axis=1, keepdims=True)
    model.fit(rows, labels, batch_size=16, verbose=0)
    model.save(path)
    kernel = model.get_weights()[0]
    if sys.argv[2] == "weights":
        model.fit(rows, labels, batch_size=16, verbose=0)
        model.load_weights(path)
    else:
        with strategy.scope():
            keras.models.load_model(path)
        model.fit(rows, labels, batch_size=16, verbose=0)
    np.testing.assert_array_equal(model.get_weights()[0], kernel)
    model.evaluate(rows, labels, batch_size=16, verbose=0)


if __name__ == "__main__":
    main()
