"""tf.train.Checkpoint: variables of 8 cores in other places, and back."""

import numpy as np
import pytest
import tensorflow as tf

from tests.checkpoint import worlds
from tests.checkpoint.worlds import MEAN, MOVES, NONE, ON_READ, SUM, World
from tpudist.tfcompat import versions

may_differ = pytest.mark.skipif(
    not versions.ASSIGN_WITHOUT_AGGREGATION,
    reason="before 2.3 assigning it in a replica is a ValueError",
)


def save(tmp_path, **variables):
    return tf.train.Checkpoint(**variables).save(str(tmp_path / "model"))


def restore(path, **variables):
    status = tf.train.Checkpoint(**variables).restore(path)
    status.assert_existing_objects_matched()


@pytest.mark.parametrize(("source", "target"), MOVES)
@pytest.mark.parametrize("aggregation", [NONE, SUM, MEAN])
def test_mirrored(tmp_path, source, target, aggregation):
    value = np.arange(6.0).reshape(2, 3).tolist()
    saved = World(source).variable(value, aggregation=aggregation)
    path = save(tmp_path, v=saved)
    other = World(target)
    loaded = other.variable(np.zeros([2, 3]).tolist(), aggregation=aggregation)
    restore(path, v=loaded)
    assert other.parts(loaded) == [value] * other.cores


def counter(world, aggregation):
    return world.variable(0.0, trainable=False, synchronization=ON_READ, aggregation=aggregation)


@pytest.mark.parametrize(("source", "target"), MOVES)
def test_a_sum_is_saved_and_restored_as_the_same_sum(tmp_path, source, target):
    world, other = World(source), World(target)
    saved, loaded = counter(world, SUM), counter(other, SUM)
    world.run(lambda number: saved.assign_add(number + 1.0))
    total = sum(range(1, world.cores + 1))
    path = save(tmp_path, v=saved)
    assert tf.train.load_variable(path, "v/.ATTRIBUTES/VARIABLE_VALUE") == total
    restore(path, v=loaded)
    assert loaded.read_value().numpy() == total
    assert sum(other.parts(loaded)) == total
    other.run(lambda number: loaded.assign_add(1.0))
    assert loaded.read_value().numpy() == total + other.cores


@pytest.mark.parametrize(("source", "target"), MOVES)
def test_a_mean_is_saved_and_restored_as_the_same_mean(tmp_path, source, target):
    world, other = World(source), World(target)
    saved, loaded = counter(world, MEAN), counter(other, MEAN)
    world.run(lambda number: saved.assign_add(number + 1.0))
    mean = sum(range(1, world.cores + 1)) / float(world.cores)
    path = save(tmp_path, v=saved)
    assert tf.train.load_variable(path, "v/.ATTRIBUTES/VARIABLE_VALUE") == mean
    restore(path, v=loaded)
    assert loaded.read_value().numpy() == mean
    assert other.parts(loaded) == [mean] * other.cores


@may_differ
@pytest.mark.parametrize("target", [0, 1, 2, 8])
def test_of_a_variable_that_replicas_assigned_the_first_is_saved(tmp_path, target):
    world, other = World(8), World(target)
    saved, loaded = world.variable(5.0), other.variable(0.0)
    world.run(lambda number: saved.assign(number + 3.0))
    assert world.parts(saved) == [number + 3.0 for number in range(8)]
    path = save(tmp_path, v=saved)
    assert worlds.names(path) == ["v/.ATTRIBUTES/VARIABLE_VALUE"]
    restore(path, v=loaded)
    assert other.parts(loaded) == [3.0] * other.cores


@may_differ
@pytest.mark.parametrize("source", [0, 2])
def test_a_variable_that_replicas_assigned_is_restored_on_all(tmp_path, source):
    world = World(8)
    path = save(tmp_path, v=World(source).variable(9.0))
    loaded = world.variable(5.0)
    world.run(lambda number: loaded.assign(number))
    restore(path, v=loaded)
    assert world.parts(loaded) == [9.0] * 8


def test_names_are_those_of_plain_tensorflow(tmp_path):
    def written(cores):
        world = World(cores)
        (tmp_path / str(cores)).mkdir()
        return worlds.names(
            save(
                tmp_path / str(cores),
                mirrored=world.variable(1.0, name="a"),
                total=counter(world, SUM),
                mean=counter(world, MEAN),
            )
        )

    plain = written(0)
    assert len(plain) == 3
    assert written(8) == written(2) == plain
    assert not [name for name in plain if "replica" in name]


def test_variables_restored_before_they_exist(tmp_path):
    path = save(tmp_path, v=World(0).variable(4.0))
    world = World(8)
    checkpoint = tf.train.Checkpoint()
    checkpoint.restore(path)
    checkpoint.v = world.variable(0.0)
    assert world.parts(checkpoint.v) == [4.0] * 8
