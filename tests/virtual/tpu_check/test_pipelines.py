"""What is told of an input pipeline that several hosts run."""

import os

import numpy as np
import pytest
import tensorflow as tf

import tpudist
from tests.helpers.generations import second_generation
from tests.virtual import harness
from tpudist import contrib, machine
from tpudist.errors import CompileError
from tpudist.system import cluster

pytestmark = second_generation

HOSTS = "v3-32"
NUMBERS = np.arange(64, dtype=np.float32)


def batches(dataset):
    return dataset.batch(32, drop_remainder=True)


def plain():
    return batches(tf.data.Dataset.from_tensor_slices(NUMBERS).map(lambda x: x + 1))


def generator():
    return batches(tf.data.Dataset.from_generator(lambda: iter(NUMBERS), tf.float32, []))


def py_function():
    def each(x):
        return tf.ensure_shape(tf.py_function(lambda a: a, [x], tf.float32), [])

    return batches(tf.data.Dataset.from_tensor_slices(NUMBERS).map(each))


def numpy_function():
    def each(x):
        return tf.ensure_shape(tf.numpy_function(abs, [x], tf.float32), [])

    return batches(tf.data.Dataset.from_tensor_slices(NUMBERS).map(lambda x: tf.function(each)(x)))


def records(name):
    with tf.io.TFRecordWriter(name) as writer:
        for number in NUMBERS:
            writer.write(number.tobytes())
    return name


def read(dataset):
    return batches(dataset.map(lambda x: tf.io.decode_raw(x, tf.float32)[0]))


def from_function(strategy, dataset):
    made = strategy.experimental_distribute_datasets_from_function(lambda context: dataset)
    return iter(made)  # until 2.3 the function is called here


def distributed(strategy, dataset):
    return strategy.experimental_distribute_dataset(dataset)


PYTHON = {generator: "PyFunc", py_function: "EagerPyFunc", numpy_function: "PyFunc"}


def of_this_file(make):
    code = make.__code__
    places = {"%s:%d" % (__file__, code.co_firstlineno + line) for line in range(1, 5)}
    return places


@pytest.mark.parametrize("distribute", [distributed, from_function])
@pytest.mark.parametrize("make", sorted(PYTHON, key=str), ids=lambda make: make.__name__)
def test_python_is_told_with_its_line(make, distribute, lines):
    distribute(harness.make(HOSTS), make())
    (line,) = lines()
    place, found = line.split(": ")[:2]
    assert place in of_this_file(make)
    assert found == PYTHON[make] and "have no Python of this program" in line


@pytest.mark.parametrize("make", sorted(PYTHON, key=str), ids=lambda make: make.__name__)
def test_one_host_may_be_this_machine(make, lines):
    distributed(harness.make(8), make())
    assert lines() == []


def test_tensors_and_their_functions_are_right(lines):
    strategy = harness.make(HOSTS)
    from_function(strategy, plain())
    assert np.shape(next(iter(distributed(strategy, plain()))).values) == (32, 1)
    assert lines() == []


WAYS = {
    "names": tf.data.TFRecordDataset,
    "a list": lambda name: tf.data.TFRecordDataset([name, name]),
    "interleave": lambda name: tf.data.Dataset.from_tensor_slices([name]).interleave(
        tf.data.TFRecordDataset
    ),
    "list_files": lambda name: tf.data.Dataset.list_files(name + "*").flat_map(
        tf.data.TFRecordDataset
    ),
}


@pytest.mark.parametrize("way", sorted(WAYS))
def test_a_file_of_this_machine_is_told(way, lines, tmp_path):
    name = records(str(tmp_path / "train.tfrecord"))
    distributed(harness.make(HOSTS), read(WAYS[way](name)))
    (line,) = lines()
    assert line.startswith(__file__) and "%s is on this machine's" % name in line


def test_a_file_elsewhere_is_not_told(lines, tmp_path, monkeypatch):
    from tpudist.virtual.tpu_check import causes

    strategy = harness.make(HOSTS)
    monkeypatch.setattr(causes, "_LOCAL", ("/home/",))  # as a disk that hosts share
    distributed(strategy, read(tf.data.TFRecordDataset(records(str(tmp_path / "shared")))))
    distributed(strategy, read(tf.data.TFRecordDataset("gs://bucket/train.tfrecord")))
    names = batches(tf.data.Dataset.from_tensor_slices([os.path.abspath(__file__)] * 64))
    distributed(strategy, names.map(tf.strings.length))
    assert lines() == []


def test_contribs_and_kerass_pipelines_are_looked_at(lines):
    strategy = contrib.TPUStrategy(cluster.TPUClusterResolver("virtual:" + HOSTS))
    with strategy.scope():
        strategy.distribute_dataset(generator)
    (line,) = lines()
    assert "PyFunc" in line
    strategy = harness.make(HOSTS)
    with strategy.scope():
        model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=[1])])
        model.compile("sgd", "mse")
    model.fit(NUMBERS[:, None], NUMBERS[:, None], batch_size=64, verbose=0)
    assert len(lines()) == 1


def test_an_error_is_raised_if_it_is_asked_for(lines, monkeypatch):
    monkeypatch.setenv(machine.TPU_CHECK, "error")
    with pytest.raises(CompileError, match="this input pipeline of 4 hosts"):
        distributed(harness.make(HOSTS), generator())
    assert tpudist.tpu_refusals() == []
