"""Variables are in the collections that a program put them into (as adapter-BERT does)."""

from tpudist.contrib import tensorflow as tf


def _model(features, labels, mode, params):
    names = ["mine", tf.GraphKeys.GLOBAL_VARIABLES]
    weight = tf.get_variable("weight", [4, 1], tf.float32, collections=names)
    assert len(tf.get_collection("mine")) == 1
    loss = tf.reduce_mean(tf.square(tf.matmul(features, weight) - labels))
    optimizer = tf.contrib.tpu.CrossShardOptimizer(tf.train.GradientDescentOptimizer(0.1))
    step = tf.train.get_global_step()
    train_op = optimizer.minimize(loss, step, var_list=tf.get_collection("mine"))
    return tf.contrib.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op)


def _input(params):
    data = tf.data.Dataset.from_tensors((tf.ones([4]), tf.ones([1])))
    return data.repeat().batch(params["batch_size"], drop_remainder=True)


def test_the_variables_of_a_collection_are_trained(tmp_path):
    resolver = tf.contrib.cluster_resolver.TPUClusterResolver("virtual:2")
    per_loop = tf.contrib.tpu.TPUConfig(iterations_per_loop=2)
    config = tf.contrib.tpu.RunConfig(
        model_dir=str(tmp_path), cluster=resolver, tpu_config=per_loop
    )
    estimator = tf.contrib.tpu.TPUEstimator(_model, config=config, train_batch_size=4)
    estimator.train(_input, max_steps=4)
    weight = estimator.get_variable_value("weight")
    first = tf.train.load_variable(str(tmp_path / "model.ckpt-0"), "weight")
    assert abs(weight - first).max() > 1e-6
