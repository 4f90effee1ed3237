"""Right and wrong uses of the 2.2 era, as a checker sees them; never run."""

from typing import reveal_type

import tpudist
from tpudist.v2_2 import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="virtual:8")
tf.config.experimental_connect_to_cluster(resolver)
topology = tf.tpu.experimental.initialize_tpu_system(resolver)
assignment = tf.tpu.experimental.DeviceAssignment.build(topology, num_replicas=4)
strategy = tf.distribute.experimental.TPUStrategy(resolver, assignment)
reveal_type(resolver)
reveal_type(assignment)
reveal_type(strategy)
reveal_type(tpudist.v2_2.TPUStrategy)
reveal_type(tpudist.v2_2.TPUStrategy(resolver).run)


@tf.function
def step(x: tf.Tensor) -> tf.Tensor:
    context = tf.distribute.get_replica_context()
    parts = strategy.experimental_split_to_logical_devices(x, [1, 2])
    return context.all_reduce(tf.distribute.ReduceOp.SUM, parts)


with strategy.scope():
    weights = tf.Variable(tf.zeros([8]))
dataset = tf.data.Dataset.from_tensor_slices([1.0, 2.0]).batch(2)
losses = batch = strategy.run(step)
for batch in strategy.experimental_distribute_dataset(dataset):
    losses = strategy.run(step, args=(batch,), kwargs={}, options=tf.distribute.RunOptions())
    reveal_type(strategy.experimental_local_results(losses))
    strategy.reduce(tf.distribute.ReduceOp.MEAN, losses, axis=None)
    strategy.reduce("SUM", losses, axis=0)
reveal_type(strategy.num_replicas_in_sync)
strategy.experimental_distribute_values_from_function(lambda context: context.replica_id)
strategy.experimental_distribute_datasets_from_function(lambda context: dataset)
reveal_type(tf.distribute.experimental.ValueContext(0, 8).num_replicas_in_sync)
later = tf.distribute.TPUStrategy(resolver, experimental_device_assignment=assignment)
later.cluster_resolver  # The installed TensorFlow's, on whichever release there is one.

# What is the installed TensorFlow's.
reveal_type(tf.constant(1))
reveal_type(tf.distribute.MirroredStrategy)
reveal_type(tf.keras.layers.Dense)
reveal_type(tf.nonsense)

# Wrong.
tpudist.v2_2.TPUStrategy(1, 2, 3, 4, nonsense=5)
tf.distribute.experimental.TPUStrategy(resolver, experimental_device_assignment=assignment)
tf.distribute.TPUStrategy(resolver, device_assignment=assignment)
strategy.run(step, (batch,), {}, None, True)
strategy.run(42)
strategy.run(step, args=7)
strategy.reduce(tf.distribute.ReduceOp.SUM, losses)
strategy.reduce("SUM", losses, axis="0")
strategy.unknown_member(losses)
strategy.call_for_each_tower(step)
strategy.experimental_assign_to_logical_device(weights, "first")
strategy.experimental_distribute_datasets_from_function("train.tfrecord")
strategy.num_replicas_in_sync = 4
later.run(step, argument=1)
print(len(strategy.experimental_local_results(losses)) + "1")
