"""Code of TensorFlow 1.11: `run_steps_on_dataset` in a Session.

An epoch is one loop on the device. Each tower takes a batch of its own.

    python examples/contrib_steps.py [--tpu virtual:8]
    tpudist run --era contrib --tpu virtual:8 SCRIPT   if it says `import tensorflow as tf`
"""

import argparse

import convnet
import digits

from tpudist.contrib import tensorflow as tf

STEPS = digits.TRAIN // convnet.BATCH  # in an epoch


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--tpu", default="virtual:8")
    options.add_argument("--epochs", type=int, default=convnet.EPOCHS)
    options = options.parse_args()

    resolver = tf.contrib.cluster_resolver.TPUClusterResolver(options.tpu)
    distribution = tf.contrib.distribute.TPUStrategy(resolver, steps_per_run=STEPS)
    print("Number of towers:", distribution.num_towers)
    train, test = digits.load()

    def dataset_fn():
        batch = convnet.BATCH // distribution.num_towers
        return tf.data.Dataset.from_tensor_slices(train).repeat().batch(batch, drop_remainder=True)

    def step_fn(context, images, labels):
        def tower_fn(images, labels):
            weights = [
                tf.get_variable(name, initializer=value)
                for name, value in convnet.initial_weights().items()
            ]
            loss = tf.losses.sparse_softmax_cross_entropy(labels, convnet.logits(weights, images))
            optimizer = tf.train.MomentumOptimizer(convnet.RATE, convnet.MOMENTUM)
            context.set_last_step_output("loss", loss, tf.VariableAggregation.MEAN)
            return optimizer.minimize(loss)

        return distribution.group(distribution.call_for_each_tower(tower_fn, images, labels))

    with tf.Graph().as_default(), distribution.scope():
        iterator = distribution.distribute_dataset(dataset_fn).make_initializable_iterator()
        loop = distribution.run_steps_on_dataset(step_fn, iterator, STEPS)

        weights = tf.trainable_variables()
        test_loss = tf.reduce_mean(convnet.losses(weights, *test))
        accuracy = tf.reduce_mean(convnet.hits(weights, *test))

        with tf.Session(resolver.get_master()) as session:
            session.run(distribution.initialize())
            session.run([tf.global_variables_initializer(), iterator.initializer])
            for epoch in range(1, options.epochs + 1):
                _, outputs = session.run([loop.run_op, loop.last_step_outputs])
                digits.progress(epoch, options.epochs, loss=outputs["loss"])
            convnet.report(*session.run([test_loss, accuracy]))
            session.run(distribution.finalize())


if __name__ == "__main__":
    main()
