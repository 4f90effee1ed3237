"""Computes products as a TPU does by default: ``TPUDIST_TPU_NUMBERS=1``.

A TPU rounds the operands of float32 products and convolutions to bfloat16, and adds their products
up in float32 (cloud.google.com/tpu/docs/bfloat16). So do here all such ops of replicas. These are
not a TPU's bits: it adds up in another order, and makes products of other ops too.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Sequence

import tensorflow as tf

from tpudist import machine
from tpudist.tfcompat import functions, graphs, versions
from tpudist.virtual.trace.dependencies import IdentityMap

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import Graph, Operation

_FORWARD = "MatMul BatchMatMul BatchMatMulV2 BatchMatMulV3 Conv Conv2D Conv3D DepthwiseConv2dNative"
_OF_INPUTS = "Conv2DBackpropInput Conv3DBackpropInputV2 DepthwiseConv2dNativeBackpropInput"
_OF_FILTERS = "Conv2DBackpropFilter Conv3DBackpropFilterV2 DepthwiseConv2dNativeBackpropFilter"

#: {type of op: the positions of its operands}
_OPERANDS: dict[str, tuple[int, ...]] = {
    "Einsum": (),  # all, of several
    **dict.fromkeys(_FORWARD.split(), (0, 1)),
    **dict.fromkeys(_OF_INPUTS.split(), (1, 2)),
    **dict.fromkeys(_OF_FILTERS.split(), (0, 2)),
}

#: The names of attributes that have the type of an op's operands.
_TYPES = ("T", "Ta", "Tb")

_NAME = "tpu_operand"


def are_asked_for() -> bool:
    """Whether products are to have a TPU's operands.

    ``tf.config.experimental.enable_tensor_float_32_execution(False)`` asks XLA for whole float32
    operands (precision HIGHEST), on TPUs too, where the release hands it on.
    """
    if os.environ.get(machine.TPU_NUMBERS, "0") in ("", "0"):
        return False
    is_whole = versions.PRECISION_IS_ASKED_FOR and (
        not tf.config.experimental.tensor_float_32_execution_enabled()
    )
    return not is_whole


def round_operands(graph: Graph, ops: Sequence[Operation] | None = None) -> None:
    """Rounds, if asked, operands of products among `ops`, or all, and in what they call."""
    if not are_asked_for():
        return
    rounded: IdentityMap[Any, Any] = IdentityMap()
    copies = _Copies(graph, graph)
    for op in graph.get_operations() if ops is None else list(ops):
        if op.type in _OPERANDS:
            _round(op, rounded)
        elif functions.calls_functions(op):
            copies.call_from(op)


def _round(op: Operation, rounded: IdentityMap[Any, Any]) -> None:
    for i in _operands(op.type, len(op.inputs)):
        tensor = op.inputs[i]
        if tensor.dtype != tf.float32 or tensor.op.name.endswith(_NAME):
            continue
        if tensor not in rounded:
            with graphs.beside(op):
                shorter = tf.cast(tensor, tf.bfloat16)
                rounded[tensor] = tf.cast(shorter, tf.float32, name=_NAME)
        op._update_input(i, rounded[tensor])


def _operands(kind: str, count: int) -> Sequence[int]:
    """The positions of the operands that an op multiplies; an Einsum of one adds up alone."""
    return range(count) if kind == "Einsum" and count > 1 else _OPERANDS[kind]


class _Copies(graphs.FunctionCopies):
    """Functions in which the operands of products are rounded."""

    def change(self, definition: Any) -> None:
        for node in [each for each in definition.node_def if each.op in _OPERANDS]:
            if all(node.attr[name].type != tf.float32.as_datatype_enum for name in _TYPES):
                continue
            for i in _operands(node.op, sum(not each.startswith("^") for each in node.input)):
                if _NAME not in node.input[i]:
                    node.input[i] = self._rounded(definition, node.input[i])

    def _rounded(self, definition: Any, source: str) -> str:
        """Adds the nodes that round an input; returns the name of their output."""
        name = "%s_%d" % (_NAME, len(definition.node_def))
        types = tf.float32.as_datatype_enum, tf.bfloat16.as_datatype_enum
        for suffix, (taken, given) in (("_short", types), ("", types[::-1])):
            node = definition.node_def.add(name=name + suffix, op="Cast", input=[source])
            node.attr["SrcT"].type, node.attr["DstT"].type = taken, given
            source = "%s%s:y:0" % (name, suffix)
        return source
