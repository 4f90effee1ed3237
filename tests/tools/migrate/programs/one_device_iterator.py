"""1.12: OneDeviceStrategy and the initializable iterator of its dataset."""

import tensorflow as tf

strategy = tf.contrib.distribute.OneDeviceStrategy("/cpu:0")
iterator = strategy.distribute_dataset(
    lambda: tf.data.Dataset.range(4)
).make_initializable_iterator()
element = iterator.get_next()
with tf.Session() as session:
    session.run(iterator.initializer)
    print([int(session.run(element)) for _ in range(4)])
