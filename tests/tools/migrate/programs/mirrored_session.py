"""1.13: MirroredStrategy in a Session, with an iterator of the strategy."""

import tensorflow as tf

strategy = tf.contrib.distribute.MirroredStrategy(["/cpu:0"])
with strategy.scope():
    variable = tf.get_variable("v", initializer=1.0)
    iterator = strategy.make_input_fn_iterator(lambda _: tf.data.Dataset.range(4).repeat())

    def replica(x):
        return variable * tf.to_float(x)

    values = strategy.unwrap(strategy.call_for_each_replica(replica, (iterator.get_next(),)[0]))
with tf.Session() as session:
    session.run([tf.global_variables_initializer(), iterator.initialize()])
    print(strategy.num_replicas_in_sync, [session.run(values) for _ in range(3)])
