"""The classes that a facade's strategy derives from.

They are TensorFlow's own TPU strategies, so that ``isinstance`` and Keras'
look at the class name come out as on a TPU; only the extended object behind
them is chosen here: native, or virtual.
"""

import os

from tensorflow.python.client import device_lib
from tensorflow.python.distribute import distribute_lib

from tpudist.core import cluster, placement
from tpudist.errors import ArgumentError
from tpudist.tfcompat import distributed, versions
from tpudist.virtual.extended import VirtualExtended

#: Environment variable: the real device that computes for a virtual TPU,
#: ``CPU:0`` (the default) or ``GPU:0``.
DEVICE = "TPUDIST_DEVICE"

_NATIVE = (distributed.tpu_strategy.TPUStrategy,)
if versions.HAS_TPU_STRATEGY_V2:
    _NATIVE = (distributed.tpu_strategy.TPUStrategyV2,) + _NATIVE

if versions.HAS_FUNCTION:
    _NATIVE_V1 = distributed.tpu_strategy.TPUStrategyV1
    _Strategy, _StrategyV1 = distribute_lib.Strategy, distribute_lib.StrategyV1
else:
    _NATIVE_V1 = distributed.tpu_strategy.TPUStrategy
    _Strategy = _StrategyV1 = distribute_lib.DistributionStrategy


class TPUStrategyBase(*_NATIVE):
    """A ``tf.distribute.Strategy`` on a native or a virtual TPU."""

    def __init__(self, *args, **kwargs):
        raise NotImplementedError("a facade's strategy calls initialize()")


class TPUStrategyBaseV1(_NATIVE_V1):
    """The same for code written against TensorFlow 1."""

    def __init__(self, *args, **kwargs):
        raise NotImplementedError("a facade's strategy calls initialize()")


def initialize(strategy, resolver, assignment=None, steps_per_run=None, num_cores=None):
    """Gives a facade's strategy its extended object, native or virtual.

    Args:
      strategy: the facade's strategy, whose class derives from one above.
      resolver: a resolver, a TPU's name, or None for the local TPU.
      assignment: a `DeviceAssignment`, or None.
      steps_per_run: steps in one device-side loop (Keras, Estimator).
      num_cores: use only that many cores, one per replica.
    """
    base = _StrategyV1 if isinstance(strategy, TPUStrategyBaseV1) else _Strategy
    extended = _extended(strategy, resolver, steps_per_run, assignment, num_cores)
    base.__init__(strategy, extended)
    if not isinstance(extended, VirtualExtended):
        # As the native constructors do: functions capture one handle.
        strategy._enable_packed_variable_in_eager_mode = True


def _extended(strategy, resolver, steps_per_run, assignment, num_cores):
    resolver = cluster.resolve(resolver)
    system = cluster.system_of(resolver)
    if system is None:
        return _native(strategy, resolver, steps_per_run, assignment, num_cores)
    made = VirtualExtended(
        strategy, system, placement.on_slice(system, num_cores, assignment), _real_device()
    )
    made._tpu_cluster_resolver = resolver
    made.steps_per_run = steps_per_run or 1
    return made


def _real_device():
    """The device that TPUDIST_DEVICE names; None where it is not set."""
    name = os.environ.get(DEVICE)
    if not name:
        return None
    found = [device.name for device in device_lib.list_local_devices()]
    wanted = "/device:" + name.upper().split("DEVICE:")[-1].lstrip("/")
    if wanted not in found:
        raise ArgumentError(
            "%s=%r" % (DEVICE, name),
            "TensorFlow sees only %s" % ", ".join(found),
            "%s=CPU:0, or a TensorFlow build with GPU support" % DEVICE,
        )
    return "/job:localhost/replica:0/task:0" + wanted


def _native(strategy, resolver, steps_per_run, assignment, num_cores):
    if not versions.HAS_FUNCTION:
        return distributed.TPUExtended(strategy, resolver, steps_per_run or 1, num_cores)
    if num_cores is not None and assignment is None:
        assignment = placement.DeviceAssignment.build(
            cluster.initialize_tpu_system(resolver), num_replicas=num_cores
        )
    return distributed.TPUExtended(
        strategy, resolver, steps_per_run=steps_per_run, device_assignment=assignment
    )


def is_virtual(strategy):
    """Whether `strategy` runs on a virtual TPU."""
    return isinstance(strategy.extended, VirtualExtended)


def native_call(strategy, name, *args, **kwargs):
    """Calls the method `name` of TensorFlow's own class on `strategy`."""
    return getattr(_native_view(strategy), name)(*args, **kwargs)


def native_property(strategy, name):
    """Reads the property `name` of TensorFlow's own class on `strategy`."""
    return getattr(_native_view(strategy), name)


def _native_view(strategy):
    if isinstance(strategy, TPUStrategyBaseV1):
        return super(TPUStrategyBaseV1, strategy)
    return super(TPUStrategyBase, strategy)
