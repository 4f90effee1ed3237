"""Packs a per-replica value: its parts are the rows of one tensor.

A function with a batch of 2,048 replicas as its argument then takes one tensor, and not 2,048,
each of which TensorFlow checks, converts and counts at every call. A function whose signature
names TensorFlow's own type of per-replica values takes it too, as one tensor per replica; in
branches, loops and nests it is of that type, with N tensors.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from tensorflow.python.distribute import values

from tpudist.tfcompat import distributed, graphs, nests, telling_values, versions

if versions.TYPE_SPECS_CAST:
    from tensorflow.python.eager.polymorphic_function import transform

#: The smallest number of replicas whose batches are packed.
SMALLEST = 32


def are_used(extended: Any) -> bool:
    """Whether batches are packed: there are many replicas, and the release can cast types."""
    return versions.TYPE_SPECS_CAST and len(extended.worker_devices) >= SMALLEST


def can_pack(extended: Any, spec: Any) -> bool:
    """Whether a batch can be packed of which `spec`, a nest, describes each replica's part."""
    return are_used(extended) and all(map(_has_rows, nests.flatten(spec)))


def _has_rows(spec: Any) -> bool:
    if type(spec) is not tf.TensorSpec or not spec.shape.rank:
        return False
    return spec.shape.is_fully_defined() and spec.dtype not in (tf.resource, tf.variant)


def divide(extended: Any, whole: Any) -> Any:
    """The per-replica value that gives each replica as many rows of the tensor `whole`."""
    count = len(extended.worker_devices)
    if graphs.is_eager(whole) and are_used(extended):
        rows, *rest = whole.shape.as_list()
        part = tf.TensorSpec([rows // count, *rest], whole.dtype)
        return PackedValue(PackedValueSpec(count, part), whole)
    return distributed.per_replica(extended, tf.split(whole, count))


class PackedValueSpec(values.PerReplicaSpec if versions.TYPE_SPECS_CAST else object):  # type: ignore[misc]
    """The type of a `PackedValue` as a function's argument.

    Args:
      count: number of replicas.
      spec: the ``tf.TensorSpec`` of one replica's rows.
    """

    __slots__ = ["_count", "_spec"]

    def __init__(self, count: int, spec: Any) -> None:
        self._count, self._spec = count, spec

    value_type = property(lambda self: PackedValue)

    @property
    def _value_specs(self) -> tuple[Any, ...]:
        return (self._spec,) * self._count

    def is_subtype_of(self, other: Any) -> bool:
        """Whether a function that takes `other`, which may be TensorFlow's type, takes this one."""
        if type(other) is values.PerReplicaSpec:
            return bool(values.PerReplicaSpec(*self._value_specs).is_subtype_of(other))
        return bool(super().is_subtype_of(other))

    def _serialize(self) -> tuple[int, Any]:
        return self._count, self._spec

    @property
    def _component_specs(self) -> list[Any]:
        return [whole_spec(self)]

    def _to_components(self, value: Any) -> list[Any]:
        context = tf.distribute.get_replica_context()
        if context is not None and context.num_replicas_in_sync > 1:
            super()._to_components(value)  # TensorFlow raises an error
        return [value.whole]

    def _from_components(self, components: Any) -> Any:
        if _take_whole not in transform.FUNC_GRAPH_TRANSFORMS:
            transform.FUNC_GRAPH_TRANSFORMS.append(_take_whole)
        return PackedValue(self, components[0])


def whole_spec(spec: Any) -> Any:
    """The ``tf.TensorSpec`` of the rows of all replicas.

    Args:
      spec: TensorFlow's type of the per-replica value; if it does not know the number of a
        replica's rows, that of all is unknown too.
    """
    parts = spec._value_specs
    shape = parts[0].shape
    if shape.rank is not None:
        rows, *rest = shape.as_list()
        shape = [None if rows is None else len(parts) * rows, *rest]
    return tf.TensorSpec(shape, parts[0].dtype)


def _take_whole(graph: Any) -> None:
    """Gives a function's graph the tensor of all rows as an input, in place of its parts.

    TensorFlow takes the inputs of a traced function from the function's arguments.
    """
    if any(tensor.op.type == "Split" for tensor in graph.inputs):
        inputs: list[Any] = []
        for tensor in graph.inputs:
            whole = tensor.op.inputs[1] if tensor.op.type == "Split" else tensor
            if not inputs or inputs[-1] is not whole:
                inputs.append(whole)
        graph.inputs = inputs


class PackedValue(telling_values.Telling, distributed.PerReplica):
    """A per-replica value that stores one tensor.

    Args:
      spec: a `PackedValueSpec`.
      whole: the tensor of the replicas' rows, one after the other.
    """

    def __init__(self, spec: PackedValueSpec, whole: Any) -> None:
        self._spec, self._parts = spec, None
        #: The rows of all replicas.
        self.whole = whole
        if nests.is_tensor(whole) and not graphs.is_eager(whole):
            self._parts = self._divide()  # in the graph that is being built now

    @property
    def _values(self) -> tuple[Any, ...]:
        if self._parts is None:
            with tf.init_scope(), tf.device(self.whole.device):
                self._parts = self._divide()
        return self._parts

    def _divide(self) -> tuple[Any, ...]:
        return tuple(tf.split(self.whole, self._spec._count))

    @property
    def _type_spec(self) -> Any:
        return values.PerReplicaSpec(*self._spec._value_specs)

    def __tf_tracing_type__(self, context: Any) -> Any:
        spec = self._spec if graphs.is_eager(self.whole) else self._type_spec
        return spec.__tf_tracing_type__(context)
