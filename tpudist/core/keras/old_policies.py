"""``tf.keras.mixed_precision.experimental`` of TensorFlow 2.1 to 2.3, on newer Keras 2."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpudist.tfcompat import keras_packages, versions

if TYPE_CHECKING:
    from typing import Any


def __getattr__(name: str) -> Any:
    """What Keras has of that name: its own module up to 2.3, and its successors since."""
    precision = keras_packages.mixed_precision()
    if versions.KERAS_POLICIES_ARE_STABLE:
        return _SUCCESSORS[name](precision)
    return getattr(precision.experimental, name)


def _policy(precision: Any) -> Any:
    def policy(name: str, loss_scale: Any = "auto") -> Any:
        """Returns a policy; an optimizer has the loss scale, on TPUs there is none."""
        del loss_scale
        return precision.Policy(name)

    return policy


_SUCCESSORS = {
    "LossScaleOptimizer": lambda precision: precision.LossScaleOptimizer,
    "Policy": _policy,
    "get_layer_policy": lambda _: lambda layer: layer.dtype_policy,
    "global_policy": lambda precision: precision.global_policy,
    "set_policy": lambda precision: precision.set_global_policy,
}
