"""The network of the package."""

from typing import List, Optional

from tpudist.v2_0 import tensorflow as tf


class Block(tf.keras.layers.Layer):
    """A residual block."""

    def __init__(self, filters: int, name: Optional[str] = None):
        super().__init__(name=name)
        self.conv = tf.keras.layers.Conv2D(filters, 3, padding="same", use_bias=False)
        self.norm = tf.keras.layers.experimental.SyncBatchNormalization()

    def call(self, inputs: tf.Tensor, training: bool = False) -> tf.Tensor:
        return tf.nn.relu(self.norm(self.conv(inputs), training=training)) + inputs


class Network(tf.Module):
    """Blocks, and a layer of weights."""

    def __init__(self, sizes: List[int]):
        super().__init__(name="network")
        self.blocks = [Block(each) for each in sizes]
        self.kernel = tf.Variable(tf.random.normal([32, 10]), name="kernel")

    @tf.function
    def __call__(self, x: tf.Tensor, training: bool) -> tf.Tensor:
        for block in self.blocks:
            x = block(x, training=training)
        return tf.matmul(tf.reduce_mean(x, [1, 2]), self.kernel)
