"""A per-replica value that is used as one tensor says what to type, on every surface."""

import numpy as np
import pytest
import tensorflow as tf

from tests.helpers import cores, v2_behavior  # noqa: F401 (it switches)
from tpudist import contrib, errors, v2_0, v2_2
from tpudist.system import cluster
from tpudist.tfcompat import distributed, versions

pytestmark = pytest.mark.skipif(
    not versions.TYPE_SPECS_CAST, reason="before 2.15 the values are TensorFlow's own"
)

#: {use: (function of the value, the error that TensorFlow's own value raises)}
USES = {
    "numpy()": (lambda value: value.numpy(), AttributeError),
    "shape": (lambda value: value.shape, AttributeError),
    "float": (float, TypeError),
    "f-string": (lambda value: f"{value:.2f}", TypeError),
    "percent": (lambda value: "%f" % value, TypeError),
    "mean of numpy": (np.mean, TypeError),
    "plus a number": (lambda value: value + 1, TypeError),
    "a number minus it": (lambda value: 1 - value, TypeError),
    "a tensor times it": (lambda value: tf.constant(2.0) * value, AttributeError),
    "less": (lambda value: value < 1, TypeError),
    "loop": (list, TypeError),
    "op": (lambda value: tf.add(value, 1), ValueError),
    "mean": (tf.reduce_mean, ValueError),
    "in a function": (lambda value: tf.function(tf.reduce_sum)(value), ValueError),
}


def replica():
    """The number of a replica."""
    return tf.cast(tf.distribute.get_replica_context().replica_id_in_sync_group, tf.float32)


def of_function(strategy, run):
    return tf.function(lambda: run(replica))()


def of_run(strategy, run):
    return run(tf.function(replica))


def of_a_dataset(strategy, run):
    numbers = tf.data.Dataset.range(4).map(lambda x: tf.cast(x, tf.float32))
    return next(iter(strategy.experimental_distribute_dataset(numbers.batch(4, True))))


def of_towers(strategy, run):
    with strategy.scope():
        return strategy.call_for_each_tower(replica)


#: {surface and what gives the value: (the surface, the method of replicas, the function)}
VALUES = {
    "2.2, a function": (v2_2, "run", of_function),
    "2.2, run": (v2_2, "run", of_run),
    "2.2, a dataset": (v2_2, "run", of_a_dataset),
    "2.0, a function": (v2_0, "experimental_run_v2", of_function),
    "2.0, a plain function": (v2_0, "experimental_run_v2", lambda strategy, run: run(replica)),
    "contrib, towers": (contrib, "call_for_each_tower", of_towers),
}


@pytest.fixture(params=sorted(VALUES))
def value(request):
    surface, method, make = VALUES[request.param]
    if cores.KIND and make is of_a_dataset:
        pytest.skip("TensorFlow's own dataset gives its own values where cores are devices")
    strategy = surface.TPUStrategy(cluster.TPUClusterResolver(cores.named("virtual:4")))
    return make(strategy, getattr(strategy, method))


@pytest.mark.parametrize("use", sorted(USES))
def test_a_use_as_one_tensor_says_what_to_type(value, use):
    function, native = USES[use]
    with pytest.raises(native) as caught:
        function(value)
    assert isinstance(caught.value, errors.PerReplicaUseError)
    assert "strategy.experimental_local_results(value)" in caught.value.instead
    assert caught.value.seen and caught.value.why


def test_what_looks_for_a_member_finds_none(value):
    assert not hasattr(value, "shape") and not hasattr(value, "strange")
    assert value and isinstance(value, tf.distribute.DistributedValues)
    assert str(value).startswith("PerReplica:{") and f"{value}" == str(value)


def test_branches_loops_and_signatures_take_them_beside_tensorflows_own():
    strategy = v2_2.TPUStrategy(cluster.TPUClusterResolver(cores.named("virtual:4")))
    ours = of_a_dataset(strategy, strategy.run)
    native = distributed.PerReplica([tf.constant([10.0 * i]) for i in range(4)])
    double = lambda x: strategy.run(lambda x: x * 2.0, args=(x,))  # noqa: E731

    @tf.function(input_signature=[native._type_spec, tf.TensorSpec([], tf.bool)])
    def step(value, flag):
        one = tf.cond(flag, lambda: double(value), lambda: native)
        other = tf.cond(flag, lambda: native, lambda: double(value))
        for _ in tf.range(3):
            one, other = other, one
        tf.nest.assert_same_structure(one, native, expand_composites=True)
        return one, other

    for flag in (True, False):
        results = step(ours, tf.constant(flag))
        results = step(results[int(flag)], tf.constant(flag))[:: 1 if flag else -1]
        parts = [np.concatenate(strategy.experimental_local_results(each)) for each in results]
        np.testing.assert_array_equal(parts, [[0.0, 10.0, 20.0, 30.0], [0.0, 4.0, 8.0, 12.0]])
