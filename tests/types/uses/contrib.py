"""Right and wrong uses of the contrib era, as a checker sees them; never run."""

from typing import Any, reveal_type

import tpudist
from tpudist.contrib import tensorflow as tf

resolver = tf.contrib.cluster_resolver.TPUClusterResolver(tpu="virtual:8")
distribution = tf.contrib.distribute.TPUStrategy(resolver, steps_per_run=100)
reveal_type(distribution)
reveal_type(distribution.run_steps_on_dataset)
reveal_type(tpudist.contrib.TPUStrategy(resolver, 1, num_cores=4).unwrap)
reveal_type(tf.contrib.distribute.get_tower_context())
reveal_type(tf.get_tower_context)
reveal_type(tf.contrib.tpu.cross_replica_sum)


def step(context: tpudist.contrib.MultiStepContext, images: Any, labels: Any) -> None:
    def tower() -> Any:
        found = tf.contrib.distribute.get_tower_context()
        reveal_type(found)
        return images if found is None else found.tower_id

    loss = distribution.call_for_each_tower(tower, run_concurrently=False)
    context.set_last_step_output("loss", loss, tf.VariableAggregation.MEAN)
    context.set_non_tensor_output("epoch", 1)


with distribution.scope():
    iterator = distribution.distribute_dataset(lambda: tf.data.Dataset.range(8))
    result = distribution.run_steps_on_dataset(
        step, iterator.make_one_shot_iterator(), iterations=10
    )
    reveal_type(result.last_step_outputs)
    reveal_type(distribution.num_towers)
    reveal_type(distribution.worker_devices)
    distribution.reduce(tf.VariableAggregation.SUM, [1.0], "/cpu:0")
    distribution.experimental_run_v2(step, args=(1, 2, 3))
session = tf.Session()

# Wrong.
tf.contrib.distribute.TPUStrategy(resolver, 100, cores=4)
tf.contrib.distribute.TPUStrategy(resolver, steps_per_run="100")
distribution.run(step)
distribution.call_for_each_towers(step)
distribution.distribute_dataset("train.tfrecord")
print(distribution.num_towers + "1")
result.set_last_step_output("loss")
print(tf.contrib.distribute.get_tower_context().tower_id)
