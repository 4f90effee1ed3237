"""Makes per-replica values that say what to type when they are used as one tensor.

TensorFlow's own ``PerReplica`` has no ``numpy()``, no arithmetic and no conversion to a tensor,
and its errors do not say what has these. The values that :func:`of` makes of it differ in their
errors alone: they are instances of TensorFlow's class, and of the same type in functions.

This holds from TensorFlow 2.15 on. Before, branches and loops compare the classes of what they
take and give, and the values stay TensorFlow's own. So do the batches of its own datasets, on a
real TPU and where devices are the cores.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, NoReturn

import tensorflow as tf
from tensorflow.python.distribute import values

from tpudist.errors import PerReplicaUseError
from tpudist.tfcompat import nests, values_by_device, versions

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import Nest, Value

#: Members of tensors and arrays.
_OF_ONE_TENSOR = frozenset("astype item max mean min numpy reshape size sum tolist".split()).union(
    dir(tf.Tensor)
)


def _refuse(use: str) -> NoReturn:
    raise PerReplicaUseError(
        "a per-replica value, such as strategy.run returns, is used as one tensor: %s" % use,
        PerReplicaUseError.WHY,
        PerReplicaUseError.INSTEAD,
    )


def _operator(name: str) -> Callable[..., Any]:
    def refused(self: object, *unused: Any) -> NoReturn:
        _refuse("by %s" % name)

    refused.__name__ = name
    return refused


class Telling:
    """A mixin of per-replica values whose use as one tensor says what to type."""

    def __getattr__(self, name: str) -> Any:
        if name in _OF_ONE_TENSOR and not name.startswith("_"):
            _refuse("by .%s" % name)
        raise AttributeError("%r object has no attribute %r" % (type(self).__name__, name))

    def __tf_tensor__(self, dtype: object = None, name: str | None = None) -> NoReturn:
        """Refuses to be converted, as the argument of an op."""
        _refuse("as an argument of an op")

    def __array__(self, *unused: Any, **unused_too: Any) -> NoReturn:
        """Refuses to be converted, by numpy."""
        _refuse("by numpy")

    def __format__(self, spec: str) -> str:
        return _refuse("by format(..., %r)" % spec) if spec else str(self)


_BINARY = "add sub mul truediv floordiv mod pow matmul and or xor".split()
_OTHERS = "lt le gt ge neg pos abs invert float int getitem".split()
for _name in [*_BINARY, *("r" + each for each in _BINARY), *_OTHERS]:
    setattr(Telling, "__%s__" % _name, _operator("__%s__" % _name))


class PerReplica(Telling, values.PerReplica):
    """TensorFlow's ``PerReplica``, which says what to type."""

    @property
    def _type_spec(self) -> object:
        """TensorFlow's type; a function makes its arguments and results by it, of our class.

        It cannot be a subclass: nests compare the classes of types.
        """
        spec = values.PerReplica._type_spec.fget(self)
        spec._from_components = self._of_components
        return spec

    def _of_components(self, components: object) -> Value:
        return PerReplica(components)


class PerReplicaByDevice(PerReplica, values_by_device.PerReplica):
    """The same of contrib's strategy, with ``get(device)``."""

    def _of_components(self, components: object) -> Value:
        return PerReplicaByDevice(components).on(self._extended)


PerReplicaByDevice.__name__ = "PerReplica"


def of(structure: Nest) -> Nest:
    """A structure, with values that say what to type in place of TensorFlow's own."""
    return nests.map_structure(_telling, structure) if versions.TYPE_SPECS_CAST else structure


def _telling(leaf: Any) -> Nest:
    if type(leaf) is values.PerReplica:
        return PerReplica(leaf._values)
    if type(leaf) is values_by_device.PerReplica:
        return PerReplicaByDevice(leaf._values).on(leaf._extended)
    return leaf
