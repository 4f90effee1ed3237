"""``tf.compat.v1.distribute.experimental.TPUStrategy`` of the 2.x eras: the old constructor."""

import importlib

import pytest
import tensorflow as tf

ERAS = ["v2_0", "v2_2"]


@pytest.fixture(params=ERAS)
def space(request):
    """The drop-in namespace of each 2.x era."""
    return importlib.import_module("tpudist.%s.tensorflow" % request.param)


@pytest.fixture
def resolver(space):
    return space.distribute.cluster_resolver.TPUClusterResolver("virtual:4")


@pytest.mark.parametrize(
    ("arguments", "steps"), [((), 1), ((7,), 7), ((None, None), 1), ((3, None), 3)]
)
def test_it_takes_steps_per_run(space, resolver, arguments, steps):
    with tf.Graph().as_default():
        made = space.compat.v1.distribute.experimental.TPUStrategy(resolver, *arguments)
    assert made.extended.steps_per_run == steps
    assert made.num_replicas_in_sync == 4


def test_it_takes_an_assignment_behind_it(space, resolver):
    topology = space.tpu.experimental.initialize_tpu_system(resolver)
    assignment = space.tpu.experimental.DeviceAssignment.build(topology, num_replicas=2)
    with tf.Graph().as_default():
        made = space.compat.v1.distribute.experimental.TPUStrategy(
            resolver, steps_per_run=2, device_assignment=assignment
        )
    assert (made.num_replicas_in_sync, made.extended.steps_per_run) == (2, 2)


def test_it_is_a_strategy_of_the_era(space, resolver):
    with tf.Graph().as_default():
        made = space.compat.v1.distribute.experimental.TPUStrategy(resolver, 2)
    assert isinstance(made, space.distribute.experimental.TPUStrategy)
    assert type(made).__name__.startswith("TPUStrategy")  # Keras asks for it


def test_the_class_of_2_x_does_not_take_it(space, resolver):
    with pytest.raises(TypeError, match="steps_per_run"):
        space.distribute.experimental.TPUStrategy(resolver, steps_per_run=2)
