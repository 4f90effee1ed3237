"""A variable of one strategy in the replica functions of another on the same cores."""

import numpy as np
import pytest
import tensorflow as tf

from tests.conformance.modes import SUM, number
from tpudist.system import cluster, placement

ON_READ = tf.VariableSynchronization.ON_READ
#: (shape of a replica's cores, replicas).
on_cores = pytest.mark.parametrize(
    ("shape", "replicas"), [((1, 1, 1), 1), ((1, 1, 1), 2), ((1, 1, 2), 4)]
)


def two(surface, shape, replicas):
    """A strategy of all eight cores, one of some, and on which core each replica of it is."""
    resolver = cluster.TPUClusterResolver("virtual:8")
    topology = cluster.initialize_tpu_system(resolver)
    made = placement.DeviceAssignment.build(
        topology, computation_shape=list(shape), num_replicas=replicas
    )
    some = surface.strategy("virtual:8", device_assignment=made)
    cores = [made.tpu_ordinal(replica=i) for i in range(replicas)]
    return surface.strategy("virtual:8"), some, cores


def summed(every, name):
    """A variable of `every` strategy's cores, each with its own value."""
    with every.scope():
        return tf.Variable(
            0.0,
            trainable=False,
            synchronization=ON_READ,
            aggregation=tf.VariableAggregation.SUM,
            name=name,
        )


@on_cores
def test_a_replica_assigns_what_its_core_holds(surface, mode, shape, replicas):
    """As TPUs find a replica's copy of a variable: by the device that it is on."""
    every, some, cores = two(surface, shape, replicas)
    total = summed(every, "held")

    def build():
        def assign():
            with tf.control_dependencies([total.assign(number() + 1.0)]):
                return (total + 0.0) * 2.0

        return tf.stack(surface.results(some, assign))

    inside = mode.evaluate(build)
    found = mode.evaluate(lambda: tf.stack(surface.results(every, lambda: total + 0.0)))
    expected = np.zeros(8)
    expected[cores] = np.arange(replicas) + 1.0
    np.testing.assert_array_equal(inside, 2.0 * (np.arange(replicas) + 1.0))
    np.testing.assert_array_equal(found, expected)


@on_cores
def test_a_replica_adds_to_what_its_core_holds(surface, mode, shape, replicas):
    every, some, _ = two(surface, shape, replicas)
    total = summed(every, "added")

    def build():
        def add():
            with tf.control_dependencies([total.assign_add(number() + 1.0)]):
                less = total.assign_sub(0.5)
            with tf.control_dependencies([less]):
                return total + 0.0

        return tf.stack(surface.results(some, add))

    np.testing.assert_array_equal(mode.evaluate(build), np.arange(replicas) + 0.5)


def test_gradients_of_few_replicas_train_the_variables_of_all(surface):
    """The pattern of programs that train on some cores and infer on others."""
    every, some, _ = two(surface, (1, 1, 1), 2)
    with every.scope():
        weight = tf.Variable(1.0, aggregation=tf.VariableAggregation.MEAN, name="weight")
    gradient = summed(every, "gradient")

    @tf.function
    def compute():
        with tf.GradientTape() as tape:
            loss = weight * 2.0
        gradient.assign(tape.gradient(loss, weight))
        return loss

    @tf.function
    def apply():
        total = tf.distribute.get_replica_context().all_reduce(SUM, gradient + 0.0)
        weight.assign_sub(0.1 * total, read_value=False)

    weight_is_summed = surface.run(some, compute)
    assert [float(x) for x in some.experimental_local_results(weight_is_summed)] == [2.0, 2.0]
    surface.run(every, apply)
    found = [part.numpy() for part in every.experimental_local_results(weight)]
    np.testing.assert_allclose(found, [0.6] * 8, rtol=1e-6)


def test_an_aggregated_assignment_is_refused(surface, mode):
    """On a TPU too: it would have to be made on the cores of the other replicas."""
    every, some, _ = two(surface, (1, 1, 1), 2)
    with every.scope():
        mean = tf.Variable(0.0, aggregation=tf.VariableAggregation.MEAN, name="mean")
    with pytest.raises(RuntimeError, match="Mixing different tf.distribute.Strategy"):
        mode.evaluate(lambda: surface.results(some, lambda: mean.assign(number())))
