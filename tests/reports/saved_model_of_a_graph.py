"""In a graph, tf.saved_model.save writes a model that trained in a strategy's scope.

release: 1.14
link: https://github.com/tensorflow/tensorflow/issues/33136
prints: predictions of the saved model as numpy: True
"""

import tempfile

import numpy as np
import tensorflow as tf

rows = np.random.RandomState(0).normal(size=(16, 3)).astype(np.float32)
resolver = tf.contrib.cluster_resolver.TPUClusterResolver(tpu="")
tf.contrib.distribute.initialize_tpu_system(resolver)
strategy = tf.contrib.distribute.TPUStrategy(resolver)
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])
    model.compile(tf.keras.optimizers.SGD(0.1), loss="mse")
model.fit(rows, rows[:, :1], batch_size=16, epochs=1, verbose=0)
kernel, bias = model.get_weights()
folder = tempfile.mkdtemp()
tf.saved_model.save(model, folder)
with tf.Graph().as_default(), tf.Session() as session:
    signatures = tf.saved_model.loader.load(session, ["serve"], folder).signature_def
    (inputs,) = signatures["serving_default"].inputs.values()
    (outputs,) = signatures["serving_default"].outputs.values()
    found = session.run(outputs.name, {inputs.name: rows})
same = np.allclose(found, rows @ kernel + bias, atol=1e-6)
print("predictions of the saved model as numpy:", same)
