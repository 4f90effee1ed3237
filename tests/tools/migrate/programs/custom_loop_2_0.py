"""2.0: a custom training loop with experimental_run_v2 on a TPU."""

import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver("virtual:2")
tf.config.experimental_connect_to_host(resolver.master())
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.experimental.TPUStrategy(resolver)
with strategy.scope():
    weight = tf.Variable(1.0, aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA)
data = tf.data.Dataset.from_tensor_slices(tf.range(1.0, 9.0)).batch(4, drop_remainder=True)


@tf.function
def train(x):
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((weight * x - 3.0) ** 2) / strategy.num_replicas_in_sync
        context = tf.distribute.get_replica_context()
        gradient = context.all_reduce(tf.distribute.ReduceOp.SUM, tape.gradient(loss, weight))
        weight.assign_sub(0.01 * gradient)
        return loss

    losses = strategy.experimental_run_v2(step, args=(x,))
    return strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None)


print(["%.5f" % train(x) for x in strategy.experimental_distribute_dataset(data)])
