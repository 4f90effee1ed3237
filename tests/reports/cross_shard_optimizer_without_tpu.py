"""A CrossShardOptimizer minimizes in a graph that is not replicated.

release: 1.12
link: https://github.com/tensorflow/tensorflow/issues/25568
fails: Instead: the optimizer itself
"""

import numpy as np
import tensorflow as tf

weights = tf.get_variable("weights", initializer=[1.0, 2.0])
optimizer = tf.contrib.tpu.CrossShardOptimizer(tf.train.GradientDescentOptimizer(0.5))
step = optimizer.minimize(tf.reduce_sum(tf.square(weights)))
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    session.run(step)
    print("weights of one step:", np.round(session.run(weights), 6).tolist())
