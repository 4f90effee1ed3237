"""2.2: run with a device assignment of three entries, and a replica of two cores."""

import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver("virtual:4")
tf.config.experimental_connect_to_cluster(resolver)
topology = tf.tpu.experimental.initialize_tpu_system(resolver)
assignment = tf.tpu.experimental.DeviceAssignment.build(
    topology, computation_shape=[1, 1, 2], num_replicas=2
)
strategy = tf.distribute.experimental.TPUStrategy(resolver, device_assignment=assignment)


@tf.function
def run():
    def replica():
        x = strategy.experimental_split_to_logical_devices(tf.ones([4, 4]), [2, 1])
        return tf.reduce_sum(tf.matmul(x, x))

    return strategy.reduce(tf.distribute.ReduceOp.SUM, strategy.run(replica), axis=None)


print(strategy.num_replicas_in_sync, float(run()))
