"""The replica function sets a layer's kernel, as spectral normalization does.

release: 2.1
link: https://github.com/tensorflow/tensorflow/issues/37834
prints: largest singular value: 1.0
"""

import numpy as np
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.experimental.TPUStrategy(resolver)
with strategy.scope():
    layer = tf.keras.layers.Dense(2, use_bias=False, kernel_initializer="ones")
    layer.build([None, 3])
    vector = tf.Variable(tf.ones([1, 2]), trainable=False)


@tf.function
def step():
    def replica():
        left = tf.math.l2_normalize(tf.matmul(vector, layer.kernel, transpose_b=True))
        right = tf.math.l2_normalize(tf.matmul(left, layer.kernel))
        vector.assign(right)
        sigma = tf.matmul(tf.matmul(left, layer.kernel), right, transpose_b=True)
        layer.kernel.assign(layer.kernel / sigma)

    strategy.experimental_run_v2(replica)


step()
found = layer.kernel.numpy()
print("largest singular value:", round(float(np.linalg.svd(found)[1][0]), 5))
