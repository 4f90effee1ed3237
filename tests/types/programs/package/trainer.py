"""The trainer of the package."""

from typing import Any, Callable, Dict

from package import data
from package.network import Network
from tpudist.v2_0 import tensorflow as tf
from tpudist.v2_0.tensorflow.python.distribute import tpu_strategy


def strategy_of(kind: str, tpu: str = "") -> tf.distribute.Strategy:
    if kind == "tpu":
        resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu=tpu)
        tf.config.experimental_connect_to_cluster(resolver)
        tf.tpu.experimental.initialize_tpu_system(resolver)
        return tf.distribute.experimental.TPUStrategy(resolver)
    if kind == "mirrored":
        return tf.distribute.MirroredStrategy()
    return tf.distribute.OneDeviceStrategy("/cpu:0")


class Trainer:
    def __init__(self, strategy: tf.distribute.Strategy, batch: int = 64) -> None:
        self.strategy = strategy
        self.batch = batch
        with strategy.scope():
            self.network = Network([3, 3])
            self.optimizer: tf.keras.optimizers.Optimizer = tf.keras.optimizers.SGD(0.1)

    def losses(self, inputs: data.Batch) -> tf.Tensor:
        images, labels = inputs
        logits = self.network(images, True)
        return tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)

    @tf.function
    def step(self, inputs: data.Batch) -> tf.Tensor:
        def replica_fn(inputs: data.Batch) -> tf.Tensor:
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(self.losses(inputs)) / self.batch
            variables = self.network.trainable_variables
            self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
            return loss

        losses = self.strategy.experimental_run_v2(replica_fn, args=(inputs,))
        return self.strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None)

    def train(self, steps: int, log: Callable[[Dict[str, Any]], None]) -> None:
        dataset = self.strategy.experimental_distribute_dataset(data.dataset(self.batch))
        iterator = iter(dataset)
        for step in range(steps):
            log({"step": step, "loss": float(self.step(next(iterator)))})


if __name__ == "__main__":
    made = strategy_of("tpu", "virtual:8")
    assert isinstance(made, (tpu_strategy.TPUStrategy, tf.distribute.experimental.TPUStrategy))
    Trainer(made).train(10, print)
