"""A TPUEstimator script, as of 2018 and 2019."""

import os

import numpy as np

from tpudist.contrib import tensorflow as tf
from tpudist.contrib.tensorflow.contrib import slim
from tpudist.contrib.tensorflow.contrib.tpu.python.tpu import (
    tpu_config,
    tpu_estimator,
    tpu_optimizer,
)

flags = tf.flags
FLAGS = flags.FLAGS
flags.DEFINE_string("tpu", None, "Name of the TPU.")
flags.DEFINE_bool("use_tpu", True, "Whether to use it.")
flags.DEFINE_integer("batch_size", 1024, "Global batch.")
flags.DEFINE_string("model_dir", None, "Where.")
tf.flags.DEFINE_integer("iterations", 50, "Steps of a loop.")


def metric_fn(labels, logits):
    accuracy = tf.metrics.accuracy(labels=labels, predictions=tf.argmax(logits, axis=1))
    return {"accuracy": accuracy, "mean": tf.metrics.mean(logits)}


def host_call_fn(global_step, loss, learning_rate):
    step = global_step[0]
    with tf.contrib.summary.create_file_writer(FLAGS.model_dir).as_default():
        with tf.contrib.summary.always_record_summaries():
            tf.contrib.summary.scalar("loss", loss[0], step=step)
            tf.contrib.summary.scalar("learning_rate", learning_rate[0], step=step)
    return tf.contrib.summary.all_summary_ops()


def network(images, is_training):
    with slim.arg_scope(
        [slim.conv2d], activation_fn=tf.nn.relu, weights_regularizer=slim.l2_regularizer(1e-4)
    ):
        net = slim.conv2d(images, 32, [3, 3], scope="conv1")
        net = tf.layers.max_pooling2d(net, 2, 2)
    net = tf.layers.batch_normalization(net, training=is_training, fused=True)
    net = tf.layers.flatten(net)
    net = tf.layers.dropout(net, rate=0.5, training=is_training)
    return tf.layers.dense(net, 10, kernel_initializer=tf.contrib.layers.xavier_initializer())


def model_fn(features, labels, mode, params):
    if isinstance(features, dict):
        features = features["images"]
    is_training = mode == tf.estimator.ModeKeys.TRAIN
    with tf.contrib.tpu.bfloat16_scope():
        logits = network(tf.cast(features, tf.bfloat16), is_training)
    logits = tf.cast(logits, tf.float32)
    predictions = {"classes": tf.argmax(logits, axis=1), "probabilities": tf.nn.softmax(logits)}
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.contrib.tpu.TPUEstimatorSpec(
            mode=mode,
            predictions=predictions,
            export_outputs={"classify": tf.estimator.export.PredictOutput(predictions)},
        )
    loss = tf.losses.sparse_softmax_cross_entropy(labels=labels, logits=logits)
    loss += tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables() if "batch" not in v.name])
    train_op = host_call = None
    if is_training:
        global_step = tf.train.get_global_step()
        learning_rate = tf.train.exponential_decay(0.1, global_step, 1000, 0.9)
        optimizer = tf.train.MomentumOptimizer(learning_rate, 0.9, use_nesterov=True)
        if params["use_tpu"]:
            optimizer = tf.contrib.tpu.CrossShardOptimizer(optimizer)
        update_ops = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
        with tf.control_dependencies(update_ops):
            train_op = optimizer.minimize(loss, global_step=global_step)
        reshaped = [tf.reshape(each, [1]) for each in (global_step, loss, learning_rate)]
        host_call = (host_call_fn, reshaped)
    eval_metrics = None
    if mode == tf.estimator.ModeKeys.EVAL:
        eval_metrics = (metric_fn, [labels, logits])

    def scaffold_fn():
        tf.train.init_from_checkpoint(FLAGS.model_dir, {"/": "/"})
        return tf.train.Scaffold()

    return tf.contrib.tpu.TPUEstimatorSpec(
        mode=mode,
        loss=loss,
        train_op=train_op,
        host_call=host_call,
        eval_metrics=eval_metrics,
        scaffold_fn=scaffold_fn,
    )


def make_input_fn(pattern, is_training):
    def input_fn(params):
        batch_size = params["batch_size"]
        dataset = tf.data.Dataset.list_files(pattern, shuffle=is_training)
        dataset = dataset.apply(
            tf.contrib.data.parallel_interleave(
                tf.data.TFRecordDataset, cycle_length=8, sloppy=True
            )
        )

        def parse(record):
            example = tf.parse_single_example(
                record,
                {
                    "image": tf.FixedLenFeature([], tf.string),
                    "label": tf.FixedLenFeature([], tf.int64),
                },
            )
            image = tf.image.decode_image(example["image"], 3)
            image = tf.image.resize_bilinear([image], [32, 32])[0]
            return image, tf.to_int32(example["label"])

        dataset = dataset.apply(
            tf.contrib.data.map_and_batch(parse, batch_size, drop_remainder=True)
        )
        dataset = dataset.repeat().prefetch(tf.contrib.data.AUTOTUNE)
        images, labels = dataset.make_one_shot_iterator().get_next()
        return {"images": images}, labels

    return input_fn


def main(argv):
    del argv
    tf.logging.set_verbosity(tf.logging.INFO)
    resolver = tf.contrib.cluster_resolver.TPUClusterResolver(FLAGS.tpu, zone=None, project=None)
    config = tpu_config.RunConfig(
        cluster=resolver,
        model_dir=FLAGS.model_dir,
        save_checkpoints_steps=max(600, 50),
        session_config=tf.ConfigProto(allow_soft_placement=True, log_device_placement=True),
        tpu_config=tpu_config.TPUConfig(
            iterations_per_loop=50,
            num_shards=8,
            per_host_input_for_training=tpu_config.InputPipelineConfig.PER_HOST_V2,
        ),
    )
    classifier = tpu_estimator.TPUEstimator(
        use_tpu=FLAGS.use_tpu,
        model_fn=model_fn,
        config=config,
        params={"rate": 0.1},
        train_batch_size=FLAGS.batch_size,
        eval_batch_size=FLAGS.batch_size,
        predict_batch_size=8,
    )
    hooks = [tf.train.LoggingTensorHook({"loss": "loss"}, every_n_iter=10)]
    classifier.train(input_fn=make_input_fn("train*", True), max_steps=100, hooks=hooks)
    results = classifier.evaluate(make_input_fn("eval*", False), steps=10)
    print("accuracy: %.3f" % results["accuracy"])
    for each in classifier.predict(make_input_fn("eval*", False)):
        print(np.argmax(each["probabilities"]))
    serving = tf.estimator.export.build_raw_serving_input_receiver_fn(
        {"images": tf.placeholder(tf.float32, [None, 32, 32, 3])}
    )
    classifier.export_saved_model(os.path.join(FLAGS.model_dir, "export"), serving)
    print(classifier.get_variable_names(), classifier.latest_checkpoint(), tpu_optimizer)
    for _ in tf.contrib.training.checkpoints_iterator(FLAGS.model_dir, timeout=10):
        tf.gfile.MakeDirs(FLAGS.model_dir)


if __name__ == "__main__":
    tf.app.run()
