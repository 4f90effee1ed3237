"""Code of TensorFlow 1.11: `call_for_each_tower` in a Session, step by step.

python examples/contrib_towers.py [--tpu virtual:8]
tpudist run --era contrib --tpu virtual:8 SCRIPT   if it says `import tensorflow as tf`
"""

import argparse

import convnet
import digits

from tpudist.contrib import tensorflow as tf


def tower_fn(images, labels):
    weights = [
        tf.get_variable(name, initializer=value)
        for name, value in convnet.initial_weights().items()
    ]
    loss = tf.losses.sparse_softmax_cross_entropy(labels, convnet.logits(weights, images))
    optimizer = tf.train.MomentumOptimizer(convnet.RATE, convnet.MOMENTUM)
    train_op = optimizer.minimize(loss, tf.train.get_or_create_global_step())
    with tf.control_dependencies([train_op]):
        return tf.identity(loss)


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--tpu", default="virtual:8")
    options.add_argument("--epochs", type=int, default=convnet.EPOCHS)
    options = options.parse_args()

    resolver = tf.contrib.cluster_resolver.TPUClusterResolver(options.tpu)
    distribution = tf.contrib.distribute.TPUStrategy(resolver, steps_per_run=1)
    print("Number of towers:", distribution.num_towers)
    train, test = digits.load()

    def dataset_fn():
        batch = convnet.BATCH // distribution.num_towers
        return tf.data.Dataset.from_tensor_slices(train).repeat().batch(batch, drop_remainder=True)

    with tf.Graph().as_default(), distribution.scope():
        iterator = distribution.distribute_dataset(dataset_fn).make_initializable_iterator()
        images, labels = iterator.get_next()
        losses = distribution.call_for_each_tower(tower_fn, images, labels)
        loss = distribution.reduce(tf.VariableAggregation.MEAN, losses, "/device:CPU:0")

        weights = tf.trainable_variables()
        test_loss = tf.reduce_mean(convnet.losses(weights, *test))
        accuracy = tf.reduce_mean(convnet.hits(weights, *test))

        with tf.Session(resolver.get_master()) as session:
            session.run(distribution.initialize())
            session.run([tf.global_variables_initializer(), iterator.initializer])
            steps = options.epochs * digits.TRAIN // convnet.BATCH
            for step in range(1, steps + 1):
                digits.progress(step, steps, loss=session.run(loss))
            assert session.run(tf.train.get_global_step()) == steps
            convnet.report(*session.run([test_loss, accuracy]))
            session.run(distribution.finalize())


if __name__ == "__main__":
    main()
