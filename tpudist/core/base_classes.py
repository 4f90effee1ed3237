"""The classes that a facade's strategy derives from.

They are TensorFlow's own TPU strategies, so that ``isinstance`` and Keras'
look at the class name come out as on a TPU; only the extended object behind
them is tpudist's choice (:mod:`tpudist.core.strategies`).
"""

from tpudist.core import loss_scaling
from tpudist.tfcompat import tpu


class TPUStrategyBase(*tpu.TPU_STRATEGIES):
    """A ``tf.distribute.Strategy`` on a native or a virtual TPU."""

    def __init__(self, *args, **kwargs):
        raise NotImplementedError("a facade's strategy calls adapter.initialize()")


class TPUStrategyBaseV1(tpu.TPUStrategyV1):
    """The same for code written against TensorFlow 1."""

    def __init__(self, *args, **kwargs):
        raise NotImplementedError("a facade's strategy calls adapter.initialize()")


class ScalingStrategyBaseV1(loss_scaling.ScalesMeanLoss, TPUStrategyBaseV1):
    """A strategy whose ``tf.train`` optimizers divide a mean loss."""


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
