"""1.11: towers of a TPUStrategy, step by step in a Session."""

import tensorflow as tf


def tower_fn(x):
    weight = tf.get_variable("weight", initializer=2.0)
    loss = tf.reduce_mean(tf.square(weight * x - 1.0))
    optimizer = tf.train.GradientDescentOptimizer(0.01)
    train = optimizer.minimize(loss, tf.train.get_or_create_global_step())
    with tf.control_dependencies([train]):
        return tf.identity(loss)


def main():
    resolver = tf.contrib.cluster_resolver.TPUClusterResolver("virtual:2")
    distribution = tf.contrib.distribute.TPUStrategy(resolver, 1)

    def dataset_fn():
        return tf.data.Dataset.range(1, 9).map(lambda i: tf.cast(i, tf.float32)).batch(2).repeat()

    with distribution.scope():
        iterator = distribution.distribute_dataset(dataset_fn).make_initializable_iterator()
        losses = distribution.call_for_each_tower(tower_fn, iterator.get_next())
        loss = distribution.reduce(tf.VariableAggregation.MEAN, losses, "/device:CPU:0")
        with tf.Session(resolver.get_master()) as session:
            session.run(distribution.initialize())
            session.run([tf.global_variables_initializer(), iterator.initializer])
            print(distribution.num_towers, ["%.5f" % session.run(loss) for _ in range(4)])
            session.run(distribution.finalize())


if __name__ == "__main__":
    main()
