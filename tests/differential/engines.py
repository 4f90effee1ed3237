"""The two engines that every program runs on, and what they did."""

import collections
import warnings

import numpy as np
import tensorflow as tf

from tests.differential import passes
from tests.differential.world import World
from tpudist import adapter, v2_0, v2_2
from tpudist.contrib.distribute import MultiStepContext
from tpudist.tfcompat import distributed, nests

_v1 = tf.compat.v1

#: What a user saw of a program: [(name of the step, nest of values)], and the
#: exception that ended it, or None.
Outcome = collections.namedtuple("Outcome", "seen error")


def start(mode, count, without=None):
    """Prepares this process; call it before TensorFlow is used.

    Args:
      mode: "function", or "graph" (with the behaviour of TensorFlow 1).
      count: number of logical CPU devices for the oracle.
      without: a pass of TensorFlow's optimizer that is left out, of `passes.PASSES`.
    """
    warnings.simplefilter("ignore")
    _v1.logging.set_verbosity(_v1.logging.ERROR)
    if mode == "graph":
        passes.leave_out_of_sessions(without)
        _v1.disable_v2_behavior()
        return
    _v1.enable_v2_behavior()
    config = tf.config.experimental
    config.set_virtual_device_configuration(
        config.list_physical_devices("CPU")[0], [config.VirtualDeviceConfiguration()] * count
    )
    passes.leave_out_of_functions(without)


def oracle(mode, count):
    """TensorFlow's mirrored strategy over logical CPU devices."""
    module = _v1.distribute if mode == "graph" else tf.distribute
    strategy = module.MirroredStrategy(
        ["/cpu:%d" % i for i in range(count)], cross_device_ops=tf.distribute.ReductionToOneDevice()
    )
    return strategy, getattr(strategy, "run", None) or (strategy.experimental_run_v2)


def virtual(unused_mode, count):
    """The virtual TPU, on the surface of 2.2."""
    strategy = v2_2.TPUStrategy(v2_2.TPUClusterResolver("virtual:%d" % count))
    return strategy, strategy.run


def virtual_2_0(unused_mode, count):
    """The virtual TPU, on the surface of 2.0."""
    strategy = v2_0.TPUStrategy(v2_0.TPUClusterResolver("virtual:%d" % count))
    return strategy, strategy.experimental_run_v2


class _Input:
    """What steps take; an iterator of TensorFlow would take a number of the random ops."""

    def get_next(self):
        return tf.constant(0)


def loop_of_a_step(unused_mode, count):
    """The virtual TPU; each run is a loop of one step, traced once for all replicas."""
    strategy = v2_2.TPUStrategy(v2_2.TPUClusterResolver("virtual:%d" % count))

    def run(fn, args):
        made = []

        def step(context, unused):
            results = strategy.extended.call_for_each_replica(fn, args=args)
            made.append(results)
            for i, leaf in enumerate(nests.flatten(results)):
                context.set_last_step_output(str(i), leaf)

        found = adapter.run_steps(strategy, step, _Input(), 1, None, MultiStepContext())
        outputs = found.last_step_outputs
        leaves = [
            distributed.per_replica(strategy.extended, outputs[str(i)]) for i in range(len(outputs))
        ]
        return nests.pack_sequence_as(made[0], leaves)

    return strategy, run


SURFACES = {"v2_0": virtual_2_0, "v2_2": virtual, "steps": loop_of_a_step}


def execute(engine, program, mode, count):
    """Runs a program; returns its `Outcome`."""
    seen = []
    if mode == "function":
        return Outcome(
            seen,
            _collect(
                engine,
                program,
                mode,
                count,
                lambda name, value: seen.append((name, _evaluate(value))),
            ),
        )
    with tf.Graph().as_default():
        built = []
        error = _collect(engine, program, mode, count, lambda *step: built.append(step))
        with _v1.Session(config=passes.session_config(count)) as session:
            session.run(_v1.global_variables_initializer())
            for name, value in built:
                seen.append((name, _evaluate(value, session)))
    return Outcome(seen, error)


def _collect(engine, program, mode, count, add):
    try:
        world = World(*engine(mode, count), program=program, mode=mode)
        for name, value in world.steps():
            add(name, value)
    except Exception as error:  # noqa: BLE001
        return error
    return None


def _evaluate(value, session=None):
    """A nest of tensors as numpy arrays; what is no tensor stays."""
    leaves = nests.flatten(value)
    if session is None:
        found = [leaf.numpy() if tf.is_tensor(leaf) else leaf for leaf in leaves]
    else:
        tensors = [
            i
            for i, leaf in enumerate(leaves)
            if isinstance(leaf, (tf.Tensor, tf.Operation, tf.Variable))
        ]
        found = list(leaves)
        for i, result in zip(tensors, session.run([leaves[i] for i in tensors])):
            found[i] = result
    return nests.pack_sequence_as(value, found)


def difference_in_steps(expected, actual):
    """The first step, of those that both did, that differs, in words; None if none does."""
    for i, (left, right) in enumerate(zip(expected.seen, actual.seen)):
        if left[0] != right[0] or not _equal(left[1], right[1]):
            return "step %d: %s on MirroredStrategy, %s on the virtual TPU" % (i, left, right)
    return None


def difference_in_ends(expected, actual):
    """How two outcomes end differently, in words; None if they end alike."""
    if kind(expected.error) != kind(actual.error):
        return "ended by %r on MirroredStrategy, %r on the virtual TPU" % (
            expected.error,
            actual.error,
        )
    if len(expected.seen) != len(actual.seen):
        return "%d steps on MirroredStrategy, %d on the virtual TPU" % (
            len(expected.seen),
            len(actual.seen),
        )
    return None


def kind(error):
    """The builtin exception, or the TensorFlow one, that an error is."""
    if error is None:
        return None
    return next(
        cls
        for cls in type(error).__mro__
        if cls.__module__ in ("builtins", tf.errors.OpError.__module__)
    )


def _equal(left, right):
    left, right = nests.flatten(left), nests.flatten(right)
    return len(left) == len(right) and all(_equal_leaf(a, b) for a, b in zip(left, right))


def _equal_leaf(left, right):
    if left is None or right is None or isinstance(left, str):
        return left == right
    left, right = np.asarray(left), np.asarray(right)
    return (
        left.dtype == right.dtype
        and left.shape == right.shape
        and np.allclose(left, right, rtol=1e-5, atol=1e-5, equal_nan=True)
    )
