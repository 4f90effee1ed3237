"""1.11: tower contexts, merge_call and what reaches the cross-tower side."""

import tensorflow as tf

resolver = tf.contrib.cluster_resolver.TPUClusterResolver("virtual:2")
strategy = tf.contrib.distribute.TPUStrategy(resolver, 1)


def tower(x):
    def merge(distribution, value, factor):
        total = distribution.reduce(tf.VariableAggregation.SUM, value, "/device:CPU:0")
        return total * factor

    context = tf.contrib.distribute.get_tower_context()
    return context.merge_call(merge, x * 2.0, 5.0) + tf.to_float(context.tower_id)


with strategy.scope():
    result = strategy.unwrap(strategy.call_for_each_tower(tower, tf.constant(3.0)))
with tf.Session(resolver.get_master()) as session:
    session.run(strategy.initialize())
    print([float(each) for each in session.run(result)], strategy.num_towers)
