"""2.0: a dataset from a function of the input context; values by replica."""

import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver("virtual:2")
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.experimental.TPUStrategy(resolver)


def dataset_fn(context):
    size = context.get_per_replica_batch_size(8)
    return tf.data.Dataset.range(16).shard(context.num_input_pipelines, 0).batch(size)


@tf.function
def total(x):
    return strategy.experimental_run_v2(tf.reduce_sum, args=(x,))


dataset = strategy.experimental_distribute_datasets_from_function(dataset_fn)
for batch in dataset:
    print([int(each) for each in strategy.experimental_local_results(total(batch))])
