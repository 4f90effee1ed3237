"""The classes that a facade's strategy derives from.

They are TensorFlow's own TPU strategies, so that ``isinstance`` and Keras'
check of the class name give the same answers as on a TPU; tpudist chooses only
the extended object (:mod:`tpudist.core.backends.strategies`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpudist.core import loss_scaling
from tpudist.tfcompat import tpu

if TYPE_CHECKING:
    from typing import Any

    from tpudist.core.annotations import Strategy


if TYPE_CHECKING:
    # Checkers do not know TensorFlow's classes: a strategy derived from them would have
    # every attribute, of any type.
    class TPUStrategyBase: ...

    class TPUStrategyBaseV1: ...

else:

    class TPUStrategyBase(*tpu.TPU_STRATEGIES):
        """A ``tf.distribute.Strategy`` on a native or a virtual TPU."""

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            raise NotImplementedError("a facade's strategy calls adapter.initialize()")

    class TPUStrategyBaseV1(tpu.TPUStrategyV1):
        """The same for code written against TensorFlow 1."""

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            raise NotImplementedError("a facade's strategy calls adapter.initialize()")


class ScalingStrategyBaseV1(loss_scaling.ScalesMeanLoss, TPUStrategyBaseV1):
    """A strategy whose ``tf.train`` optimizers divide a mean loss."""


def is_facade(strategy: Any) -> bool:
    """Whether `strategy` is a facade's, whatever it runs on."""
    return isinstance(strategy, (TPUStrategyBase, TPUStrategyBaseV1))


def native_call(strategy: Strategy, name: str, *args: Any, **kwargs: Any) -> Any:
    """Calls the method `name` of TensorFlow's own class on `strategy`."""
    return getattr(_native_view(strategy), name)(*args, **kwargs)


def native_property(strategy: Strategy, name: str) -> Any:
    """Reads the property `name` of TensorFlow's own class on `strategy`."""
    return getattr(_native_view(strategy), name)


def _native_view(strategy: Strategy) -> Any:
    if isinstance(strategy, TPUStrategyBaseV1):
        return super(TPUStrategyBaseV1, strategy)
    return super(TPUStrategyBase, strategy)
