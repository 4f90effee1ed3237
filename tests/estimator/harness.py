"""A linear model in a TPUEstimator, and the same training in numpy."""

import numpy as np
import tensorflow as tf

from tests.helpers import cores
from tpudist.contrib.tpu import CrossShardOptimizer
from tpudist.estimator import export, tpu
from tpudist.system.cluster import TPUClusterResolver

tf1 = tf.compat.v1

_RANDOM = np.random.RandomState(7)
X = _RANDOM.uniform(-1, 1, (64, 4)).astype(np.float32)
Y = (X.dot([[1.0], [2.0], [-1.0], [0.5]]) + 0.25).astype(np.float32)
RATE, MOMENTUM = 0.1, 0.9

#: Those options of `estimator` that are options of its RunConfig.
_CONFIG_OPTIONS = (
    "keep_checkpoint_max",
    "log_step_count_steps",
    "save_checkpoints_steps",
    "session_config",
    "tf_random_seed",
)


def trained_by_numpy(steps, batch, rate=RATE, momentum=MOMENTUM, start=None):
    """Returns (weights, bias, losses) of momentum on the mean of each global batch."""
    w, b = start or (np.zeros((4, 1)), np.zeros(1))
    velocity_w, velocity_b, losses = np.zeros((4, 1)), np.zeros(1), []
    for step in range(steps):
        rows = np.arange(step * batch, (step + 1) * batch) % len(X)
        error = X[rows].dot(w) + b - Y[rows]
        losses.append((error**2).mean())
        velocity_w = momentum * velocity_w + 2 * X[rows].T.dot(error) / batch
        velocity_b = momentum * velocity_b + 2 * error.mean(axis=0)
        w, b = w - rate * velocity_w, b - rate * velocity_b
    return w, b, losses


def input_fn(params, mode=None):
    """Returns the rows in order: once for a prediction, else repeated for ever."""
    dataset = tf.data.Dataset.from_tensor_slices(({"x": X}, Y))
    if mode == "infer":
        return dataset.batch(params["batch_size"])
    return dataset.repeat().batch(params["batch_size"], drop_remainder=True)


def linear(features):
    """Returns the model's values; makes its variables."""
    with tf1.variable_scope("linear"):
        w = tf1.get_variable("w", [4, 1], initializer=tf1.zeros_initializer())
        b = tf1.get_variable("b", [1], initializer=tf1.zeros_initializer())
    return tf.matmul(features["x"], w) + b


def model_fn(features, labels, mode, params):
    """Returns the specification of the linear model.

    Items of `params` that tests set: "optimizer" makes another optimizer; "unsummed" leaves
    out the CrossShardOptimizer; "fields" is a function from the loss to fields of the
    specification.
    """
    value = linear(features)
    if mode == "infer":
        return tpu.TPUEstimatorSpec(mode, predictions={"value": value, "x": features["x"]})
    loss = tf.reduce_mean(tf.square(value - labels))
    if mode == "eval":
        return tpu.TPUEstimatorSpec(mode, loss=loss, eval_metrics=(metric_fn, [labels, value]))
    make_optimizer = params.get("optimizer", lambda: tf1.train.MomentumOptimizer(RATE, MOMENTUM))
    optimizer = make_optimizer()
    if params["use_tpu"] and not params.get("unsummed"):
        optimizer = CrossShardOptimizer(optimizer)
    train_op = optimizer.minimize(loss, tf1.train.get_global_step())
    fields = params.get("fields", lambda loss: {})(loss)
    return tpu.TPUEstimatorSpec(mode, **dict(dict(loss=loss, train_op=train_op), **fields))


def metric_fn(labels, value):
    """Returns a metric over all examples that is not the mean of those over the replicas."""
    return {"root": tf1.metrics.root_mean_squared_error(labels, value)}


def estimator(folder, model_fn=model_fn, tpu_name="virtual:8", per_loop=4, **options):
    """Returns a TPUEstimator of the model on a virtual TPU.

    Args:
      folder: the folder of its checkpoints.
      model_fn: the model function.
      tpu_name: the name of the TPU.
      per_loop: number of steps of a loop.
      **options: options of the TPUEstimator, of its RunConfig or of its TPUConfig.
    """
    config = {name: options.pop(name) for name in _CONFIG_OPTIONS if name in options}
    tpu_config = {name: options.pop(name) for name in tpu.TPUConfig._fields if name in options}
    batch_sizes = dict(train_batch_size=16, eval_batch_size=16, predict_batch_size=24)
    return tpu.TPUEstimator(
        model_fn=model_fn,
        config=tpu.RunConfig(
            cluster=TPUClusterResolver(cores.named(tpu_name)),
            model_dir=str(folder),
            tpu_config=tpu.TPUConfig(iterations_per_loop=per_loop, **tpu_config),
            **config,
        ),
        **dict(batch_sizes, **options),
    )


def serve(folder, rows):
    """Returns the values that an exported model computes for rows."""
    with tf.Graph().as_default(), tf1.Session() as session:
        loaded = tf1.saved_model.load(session, ["serve"], str(folder))
        signature = loaded.signature_def["serving_default"]
        feed = {signature.inputs["x"].name: rows}
        return session.run(signature.outputs["value"].name, feed)


def serving_input_receiver_fn():
    """Returns a receiver of rows of four numbers."""
    features = {"x": tf1.placeholder(tf.float32, [None, 4])}
    return export.ServingInputReceiver(features, features)


def exported_model_fn(features, labels, mode, params):
    """Returns the specification of the model, with the outputs that are served."""
    spec = model_fn(features, labels, mode, params)
    if mode == "infer":
        outputs = export.PredictOutput({"value": spec.predictions["value"]})
        return spec._replace(export_outputs={"serving_default": outputs})
    return spec


class Losses(tf1.train.SessionRunHook):
    """Keeps the loss of each run of the Session."""

    def __init__(self):
        self.losses = []

    def begin(self):
        self._loss = tf1.get_collection(tf1.GraphKeys.LOSSES)[-1]

    def before_run(self, run_context):
        return tf1.train.SessionRunArgs(self._loss)

    def after_run(self, run_context, run_values):
        self.losses.append(float(run_values.results))
