"""``tf.keras.mixed_precision.experimental`` of TensorFlow 1.15 to 2.3, on newer Keras 2."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable

from tpudist.errors import ArgumentError
from tpudist.tfcompat import keras_packages, versions

if TYPE_CHECKING:
    # What checkers see of the names that `__getattr__` finds.
    class LossScaleOptimizer(Any):
        def __init__(self, optimizer: object, loss_scale: object = "dynamic") -> None: ...

    class Policy(Any):
        def __init__(self, name: str, loss_scale: object = "auto") -> None: ...

    def get_layer_policy(layer: object) -> object: ...

    def global_policy() -> object: ...

    def set_policy(policy: object) -> None: ...


def __getattr__(name: str) -> Any:
    """Finds a name in Keras: in its module up to 2.3, among its successors since."""
    if not versions.HAS_RUN and (name == "get_layer_policy" or not versions.HAS_COMPAT_V2):
        return _Absent
    precision = keras_packages.mixed_precision()
    if versions.KERAS_POLICIES_ARE_STABLE:
        return _SUCCESSORS[name](precision)
    return getattr(precision.experimental, name)


class _Absent:
    """Placeholder for a name that this release does not have yet; making one is refused."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise ArgumentError(
            "tf.keras.mixed_precision.experimental on TensorFlow %s" % versions.TF,
            "it began with 1.14, and get_layer_policy in it with 2.1",
            "TensorFlow 2.2 or newer",
        )


def _policy(name: str, loss_scale: object = "auto") -> object:
    """Returns a policy; an optimizer has the loss scale, on TPUs there is none."""
    del loss_scale
    return keras_packages.mixed_precision().Policy(name)


def _layer_policy(layer: Any) -> object:
    return layer.dtype_policy


_SUCCESSORS: dict[str, Callable[[Any], Any]] = {
    "LossScaleOptimizer": lambda precision: precision.LossScaleOptimizer,
    "Policy": lambda _: _policy,
    "get_layer_policy": lambda _: _layer_policy,
    "global_policy": lambda precision: precision.global_policy,
    "set_policy": lambda precision: precision.set_global_policy,
}
