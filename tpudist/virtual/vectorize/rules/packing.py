"""Rules for optionals, into which branches pack values for their gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpudist.virtual.vectorize.rules.node import rule
from tpudist.virtual.vectorize.values import batched_values, optionals

if TYPE_CHECKING:
    from typing import Any

    from tpudist.virtual.vectorize.rules.node import Node


@rule(optionals.FULL)
def pack(node: Node) -> list[Any] | None:
    """Packs a value into an optional."""
    if len(node.inputs) != 1 or not node.is_batch(0):
        return None
    dtype = node.op.inputs[0].dtype
    value = node.inputs[0].stacked()
    return [optionals.Optionals.of(node.count, value, dtype, node.inputs[0].shape)]


@rule("OptionalGetValue")
def unpack(node: Node) -> list[Any] | None:
    """Unpacks the value of an optional."""
    if len(node.op.outputs) != 1 or node.shape() is None:
        return None
    value = optionals.unpack(node.inputs[0], node.op.outputs[0].dtype, node.shape())
    return [batched_values.Batch(node.count, node.shape(), stacked=value)]
