"""2.0: Keras fit under MirroredStrategy, beside a member of the strategy that ended."""

import numpy as np
import tensorflow as tf

strategy = tf.distribute.MirroredStrategy(["/cpu:0"])
with strategy.scope():
    model = tf.keras.Sequential(
        [tf.keras.layers.Dense(1, kernel_initializer="ones", input_shape=(2,))]
    )
    model.compile(tf.keras.optimizers.SGD(0.05), "mse")
x, y = np.arange(8, dtype="f").reshape(4, 2) / 8, np.ones((4, 1), "f")
history = model.fit(x, y, batch_size=4, epochs=3, shuffle=False, verbose=0).history["loss"]
bias = strategy.experimental_run_v2(lambda: model.layers[0].bias + 0.0)
print(
    ["%.4f" % loss for loss in history],
    "%.4f" % strategy.experimental_local_results(bias)[0].numpy()[0],
)
