"""The model was made before the strategy's scope, the optimizer applies gradients inside it.

release: 2.6
link: https://github.com/tensorflow/tensorflow/issues/55713
fails: Instead: with strategy.scope(): model = ...
"""

import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.experimental.TPUStrategy(resolver)
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])
with strategy.scope():
    optimizer = tf.keras.optimizers.SGD(0.1, momentum=0.9)


@tf.function
def step(batch):
    def replica(batch):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(batch)))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))

    strategy.run(replica, args=(batch,))


step(tf.ones([2, 3]))
print("a step was done")
