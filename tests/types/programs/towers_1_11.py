"""Towers on a TPU in a Session: call_for_each_tower and run_steps_on_dataset."""

import collections

from tpudist.contrib import tensorflow as tf
from tpudist.contrib.tensorflow.contrib.distribute.python import tpu_strategy as tpu_lib
from tpudist.contrib.tensorflow.contrib.tpu.python.ops import tpu_ops
from tpudist.contrib.tensorflow.python.keras import backend as K
from tpudist.contrib.tensorflow.python.training import distribute as distribute_lib

Batch = collections.namedtuple("Batch", "images labels")


def model(images):
    with tf.variable_scope("net", reuse=tf.AUTO_REUSE):
        kernel = tf.get_variable("kernel", [28 * 28, 10], initializer=tf.zeros_initializer())
        bias = tf.get_variable("bias", [10], aggregation=tf.VariableAggregation.MEAN)
    return tf.matmul(tf.reshape(images, [-1, 28 * 28]), kernel) + bias


def tower_fn(images, labels):
    logits = model(images)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    variables = tf.trainable_variables()
    gradients = tf.gradients(loss, variables)
    train_op = optimizer.apply_gradients(zip(gradients, variables))
    tower = tf.contrib.distribute.get_tower_context()
    if tower is not None:
        print(tower.tower_id, tower.num_towers, tower.is_single_tower, tower.device)
        tower.merge_call(lambda distribution, x: distribution.unwrap(x), loss)
    with tf.control_dependencies([train_op]):
        return tf.identity(loss)


def step_fn(ctx, images, labels):
    losses = distribution.call_for_each_tower(tower_fn, images, labels)
    ctx.set_last_step_output("loss", losses, aggregation=tf.VariableAggregation.MEAN)
    ctx.set_non_tensor_output("images", images)
    return distribution.group(losses)


def dataset_fn():
    with tf.device("/cpu:0"):
        data = tf.data.Dataset.from_tensors((tf.ones([28, 28, 1]), 1))
    return data.repeat().apply(tf.contrib.data.batch_and_drop_remainder(16)).prefetch(1)


tpu_cluster_resolver = tf.contrib.cluster_resolver.TPUClusterResolver(tpu="virtual:8")
distribution = tf.contrib.distribute.TPUStrategy(tpu_cluster_resolver, steps_per_run=10)
another = tpu_lib.TPUStrategy(tpu_cluster_resolver, 10, num_cores=8)
assert isinstance(distribution, tf.contrib.distribute.DistributionStrategy)
with tf.Graph().as_default(), distribution.scope():
    iterator = distribution.distribute_dataset(dataset_fn).make_initializable_iterator()
    initial = {"loss": tf.constant(1e7)}
    context = distribution.run_steps_on_dataset(
        step_fn, iterator, iterations=10, initial_loop_values=initial
    )
    loss = context.last_step_outputs["loss"]
    total = distribution.reduce(tf.VariableAggregation.SUM, loss, destinations="/cpu:0")
    updates = distribution.update(tf.trainable_variables()[0], lambda v: v.assign_add(v))
    values = distribution.unwrap(loss) + [
        distribution.read_var(tf.train.get_or_create_global_step())
    ]
    mean = distribution.broadcast(tf.constant(1.0), None)
    config = tf.ConfigProto()
    config.gpu_options.allow_growth = True
    with tf.Session(tpu_cluster_resolver.get_master(), config=config) as sess:
        sess.run(tf.contrib.tpu.initialize_system())
        sess.run(distribution.initialize())
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        sess.run(iterator.initializer)
        saver = tf.train.Saver(max_to_keep=3)
        for step in range(10):
            _, value = sess.run([context.run_op, total])
            print("step %d: %.3f" % (step, value))
        saver.save(sess, "model.ckpt", global_step=10)
        sess.run(distribution.finalize())
        sess.run(tf.contrib.tpu.shutdown_system())
print(distribution.num_towers, distribution.num_replicas, distribution.worker_devices, K, tpu_ops)
print(distribute_lib.get_tower_context, values, mean, updates, another)
