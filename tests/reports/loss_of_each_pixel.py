"""A loop of one's own has a loss for each pixel of an image, and divides by the images.

release: 2.0
link: https://github.com/tensorflow/tensorflow/issues/33651
prints: loss and kernel after two steps as on one device: True
"""

import numpy as np
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.experimental.TPUStrategy(resolver)
images = np.random.RandomState(0).normal(size=(16, 4, 4, 3)).astype(np.float32)
masks = np.random.RandomState(1).randint(0, 2, size=(16, 4, 4)).astype(np.int32)


def net_and_optimizer():
    kernel = tf.keras.initializers.Constant(0.1)
    layer = tf.keras.layers.Conv2D(2, 3, padding="same", kernel_initializer=kernel)
    layer.build([None, 4, 4, 3])
    return layer, tf.keras.optimizers.SGD(0.5)


def train(layer, optimizer, images, masks):
    with tf.GradientTape() as tape:
        of_pixels = tf.keras.losses.sparse_categorical_crossentropy(
            masks, layer(images), from_logits=True
        )
        of_images = tf.reduce_mean(of_pixels, axis=[1, 2])
        loss = tf.nn.compute_average_loss(of_images, global_batch_size=16)
    gradients = tape.gradient(loss, layer.trainable_variables)
    optimizer.apply_gradients(zip(gradients, layer.trainable_variables))
    return loss


with strategy.scope():
    layer, optimizer = net_and_optimizer()


@tf.function
def step(images, masks):
    of_replicas = strategy.experimental_run_v2(train, args=(layer, optimizer, images, masks))
    return strategy.reduce(tf.distribute.ReduceOp.SUM, of_replicas, axis=None)


data = tf.data.Dataset.from_tensor_slices((images, masks)).batch(16).repeat(2)
losses = [float(step(*batch)) for batch in strategy.experimental_distribute_dataset(data)]
alone, its_optimizer = net_and_optimizer()
expected = [float(train(alone, its_optimizer, images, masks)) for _ in range(2)]
right = np.allclose(losses, expected, rtol=1e-5) and np.allclose(
    layer.get_weights()[0], alone.get_weights()[0], rtol=1e-4, atol=1e-6
)
print("loss and kernel after two steps as on one device:", right)
