"""1.11: steps of a TPUStrategy on a dataset, in eager code."""

import tensorflow as tf

tf.enable_v2_behavior()
resolver = tf.contrib.cluster_resolver.TPUClusterResolver("virtual:2")
tf.contrib.distribute.initialize_tpu_system(resolver)
distribution = tf.contrib.distribute.TPUStrategy(resolver, steps_per_run=3)

with distribution.scope():
    total = tf.Variable(0.0, aggregation=tf.VariableAggregation.SUM)


def tower(x):
    total.assign_add(x)
    return x * 2.0


def step(context, x):
    values = distribution.call_for_each_tower(tower, x)
    context.set_last_step_output("twice", values, tf.VariableAggregation.MEAN)


def dataset_fn():
    return tf.data.Dataset.range(100).map(lambda i: tf.cast(i, tf.float32))


with distribution.scope():
    iterator = distribution.distribute_dataset(dataset_fn).make_one_shot_iterator()
    loop = distribution.run_steps_on_dataset(step, iterator, 3)
    print("%.3f %.3f" % (loop.last_step_outputs["twice"], total.read_value()))
