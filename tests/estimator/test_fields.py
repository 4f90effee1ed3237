"""Each field of a specification has the same effect in each mode as without a TPU."""

import glob
import os

import numpy as np
import pytest
import tensorflow as tf

from tests.estimator import harness
from tpudist.contrib import tensorflow as contrib
from tpudist.estimator import tpu
from tpudist.tfcompat import nests

tf1 = tf.compat.v1

#: Steps of each training and evaluation; a prediction has as many batches.
STEPS = 4


class Hook(tf1.train.SessionRunHook):
    """Notes that it was called, under its name."""

    def __init__(self, name, ran):
        self._name = name
        self._ran = ran

    def begin(self):
        self._ran.append(self._name)


class Counters(tf1.train.SessionRunHook):
    """Reads the counters of a model when its Session ends."""

    def begin(self):
        self._counters = {
            each.op.name: each
            for each in tf1.global_variables()
            if each.op.name in ("trained", "updated", "unused")
        }

    def end(self, session):
        self.values = session.run(self._counters)


def model_fn_with_all_fields(ran, folder):
    """Returns a model function whose specification has every field in every mode.

    Args:
      ran: a list to which each field's function or hook appends its name when it runs.
      folder: the folder of the summaries that ``host_call`` writes.
    """

    def counter(name):
        start = tf1.zeros_initializer()
        variable = tf1.get_variable(name, [], initializer=start, trainable=False)
        return variable.assign_add(1.0)

    def host(name, **tensors):
        def note(*values):
            ran.append("%s of %d examples" % (name, len(values[0])))
            return np.int32(0)

        return tf1.py_func(note, list(tensors.values()), tf.int32)

    def model_fn(features, labels, mode, params):
        value = harness.linear(features)
        train, update, unused = map(counter, ("trained", "updated", "unused"))
        tf1.add_to_collection(tf1.GraphKeys.UPDATE_OPS, update)
        with tf.control_dependencies([unused]):
            tf.identity(value)
        error = tf.square(value - (0.0 if labels is None else labels))
        loss = tf.reduce_mean(error)
        optimizer = tf1.train.GradientDescentOptimizer(harness.RATE)
        if params["use_tpu"]:
            optimizer = harness.CrossShardOptimizer(optimizer)
        minimized = optimizer.minimize(loss, tf1.train.get_global_step())

        step = tf.reshape(tf1.train.get_global_step(), [1])

        def scaffold_fn():
            return tf1.train.Scaffold(init_fn=lambda scaffold, session: ran.append("scaffold"))

        def metric_fn(value):
            mean, update = tf1.metrics.mean(value)
            with tf.control_dependencies([host("eval_metrics", value=value)]):
                return {"mean": (mean, tf.identity(update))}

        def host_fn(error, step):
            summary = contrib.contrib.summary
            writer = summary.create_file_writer(os.path.join(folder, mode), max_queue=100)
            with writer.as_default(), summary.always_record_summaries():
                summary.scalar("host_call", tf.reduce_mean(error), step=step[0])
            return [host("host_call", error=error), *summary.all_summary_ops()]

        return tpu.TPUEstimatorSpec(
            mode,
            predictions={"value": value},
            loss=loss,
            train_op=tf.group(minimized, train),
            eval_metrics=(metric_fn, [value]),
            host_call=(host_fn, {"error": error, "step": step}),
            scaffold_fn=scaffold_fn,
            training_hooks=[Hook("training_hooks", ran)],
            evaluation_hooks=[Hook("evaluation_hooks", ran)],
            prediction_hooks=[Hook("prediction_hooks", ran)],
        )

    return model_fn


def count_summaries(folder):
    """Returns {name: number of values} of the summaries below a folder."""
    counts = {}
    for path in glob.glob(os.path.join(str(folder), "**", "events*"), recursive=True):
        for event in tf1.train.summary_iterator(path):
            for each in event.summary.value:
                counts[each.tag] = counts.get(each.tag, 0) + 1
    return counts


def batches(params, mode):
    """Returns as many batches as there are steps; in a training it never ends."""
    dataset = tf.data.Dataset.from_tensor_slices(({"x": harness.X}, harness.Y))
    if mode != "train":
        dataset = dataset.take(STEPS * 16)
    return dataset.repeat(1 if mode != "train" else None).batch(16, drop_remainder=True)


def record(folder, use_tpu, mode):
    """Returns what is run, read and written in a mode, after a training."""
    ran, counters = [], Counters()
    est = harness.estimator(
        folder,
        model_fn_with_all_fields(ran, os.path.join(str(folder), "host_call")),
        tpu_name="virtual:2",
        per_loop=1,
        use_tpu=use_tpu,
        predict_batch_size=16,
        log_step_count_steps=None,
    )
    est.train(batches, max_steps=STEPS, hooks=[counters])
    results = []
    if mode != "train":
        del ran[:]
        counters = Counters()
    before = count_summaries(folder) if mode != "train" else {}
    if mode == "eval":
        results = est.evaluate(batches, steps=STEPS, hooks=[counters])
    elif mode == "infer":
        results = [each["value"] for each in est.predict(batches, hooks=[counters])]
    after = count_summaries(folder)
    return {
        "results": results,
        "ran": sorted(ran),
        "read": counters.values,
        "written": {tag: after[tag] - before.get(tag, 0) for tag in after},
        "saved": {name: est.get_variable_value(name) for name in est.get_variable_names()},
    }


def record_without_a_tpu(folder, mode):
    """Returns the record of TensorFlow's own Estimator; skips where it cannot flush writers."""
    try:
        return record(folder, False, mode)
    except ValueError as error:
        if "flush()" not in str(error):
            raise
        pytest.skip("this TensorFlow's own Estimator fails for a writer in host_call: %s" % error)


#: {mode: {what a field's function or hook notes: how often}}
RUNS = {
    "train": {"scaffold": 1, "training_hooks": 1, "host_call of 16 examples": STEPS},
    "eval": {
        "evaluation_hooks": 1,
        "eval_metrics of 16 examples": STEPS,
        "host_call of 16 examples": STEPS,
    },
    "infer": {"prediction_hooks": 1, "host_call of 16 examples": STEPS},
}


@pytest.mark.parametrize("mode", sorted(RUNS))
def test_fields_run_and_write_the_same_as_without_a_tpu(tmp_path, mode):
    actual = record(tmp_path / "tpu", True, mode)
    expected = record_without_a_tpu(tmp_path / "cpu", mode)
    runs = sorted(name for name, count in RUNS[mode].items() for _ in range(count))
    assert actual["ran"] == expected["ran"] == runs
    assert actual["read"] == expected["read"] == dict(trained=STEPS, updated=0, unused=0)
    assert actual["written"] == expected["written"]
    for what in ("results", "saved"):
        same = nests.map_structure(
            lambda one, other: np.allclose(one, other, 1e-4, 1e-5), actual[what], expected[what]
        )
        assert all(nests.flatten(same)), (what, actual[what], expected[what])
    assert actual["written"]["host_call"] == STEPS
