"""Function graphs that record of each op which line made it and on which device it runs."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, Iterator, Sequence

import tensorflow as tf
from tensorflow.python.framework import ops
from tensorflow.python.ops import gen_array_ops, gen_state_ops

from tpudist.tfcompat import functions, made_ops, nests, versions

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import DType, Graph, Operation, Tensor


if versions.OPS_TAKE_STACK_TRACES:
    from tensorflow.python.util import tf_stack


class LocatedGraph(functions.FuncGraph):
    """A function graph that keeps in `made_at` which Python calls made its ops, from 2.15 on."""

    #: The calls that made every op, where they are not asked for one by one.
    _all_made_at = None

    #: The device of every op, where that is one.
    place: str | None = None

    #: Ops that were made and are not run.
    _left_out: frozenset[Operation] = frozenset()

    def __init__(self, name: str) -> None:
        self.made_at: dict[Operation, Any] = {}
        super().__init__(name)

    @property
    def _py_funcs_used_in_graph(self) -> list[Any]:
        """Keeps functions of ``py_func`` in the outermost graph: 1.15's inner one ends."""
        graph = self.outer_graph
        while isinstance(graph, functions.FuncGraph):
            graph = graph.outer_graph
        kept: list[Any] = graph.__dict__.setdefault("_py_funcs_used_in_graph", [])
        return kept

    def get_operations(self) -> list[Operation]:
        """The ops of the graph, in the order in which they were made."""
        made = super().get_operations()
        return [op for op in made if op not in self._left_out] if self._left_out else made

    def leave_out(self, ops: Sequence[Operation]) -> list[int]:
        """Leaves `ops`, whose outputs no other op takes, out; returns where they were, sorted."""
        gone = set(ops)
        places = [i for i, op in enumerate(self.get_operations()) if op in gone]
        self._left_out = self._left_out.union(gone)
        return places

    if versions.OPS_TAKE_STACK_TRACES:

        def _create_op_internal(
            self,
            op_type: str,
            inputs: Sequence[Tensor],
            dtypes: Sequence[DType] | None = None,
            input_types: object = None,
            name: str | None = None,
            attrs: object = None,
            op_def: object = None,
            compute_device: bool = True,
        ) -> Operation:
            """See the base class, which is asked where an op may become another one."""
            if self.capture_by_value or self._get_control_flow_context() is not None:
                return super()._create_op_internal(
                    op_type, inputs, dtypes, input_types, name, attrs, op_def, compute_device
                )
            inputs = [
                each if getattr(each, "graph", None) is self else self.capture(each)
                for each in inputs
            ]
            name = name or op_type
            unique = name[:-1] if name.endswith("/") else self.unique_name(name)
            node = ops._NodeDef(op_type, unique, attrs)
            if self.place is not None:
                node.device, compute_device = self.place, False
            before = self._control_dependencies_for_inputs({each.op for each in inputs})
            made = ops._create_c_op(self, node, inputs, before, op_def, extract_traceback=False)
            op = ops.Operation._from_c_op(made, self)
            op._original_op = self._default_original_op
            self._create_op_helper(op, compute_device=compute_device)
            if self._all_made_at is None:
                self.made_at[op] = tf_stack.extract_stack(stacklevel=2)
            made_ops.locate(op, self._all_made_at or self.made_at[op])
            return op

        def _snapshot_device_function_stack_metadata(self) -> list[Any]:
            """See the base class: for messages that would name lines of tpudist alone."""
            return []


class PlacedGraph(LocatedGraph):
    """A function graph whose ops are on one device, and made by the calls of what they copy."""

    def __init__(self, name: str, place: str) -> None:
        super().__init__(name)
        self.place = place
        if versions.OPS_TAKE_STACK_TRACES:
            self._all_made_at = tf_stack.extract_stack(stacklevel=2)

    @contextlib.contextmanager
    def building(self) -> Iterator[Any]:
        """Context manager: ops are added to this graph, on its device."""
        with self.as_default(), self.device(None), self.device(self.place):
            yield


# A function takes no reference, so what TensorFlow captures of a reference variable of TensorFlow 1
# is its value before the call: it cannot be updated, and a loop reads the same value in every step.
# But a variable's op finds its state by its shared name. A second op of that name, inside the
# function, is the same variable.

_VARIABLES = ("VariableV2", "Variable")


def reference_inside(graph: Graph, tensor: Tensor) -> Tensor | None:
    """A second op in `graph` for a reference variable of another graph, or its value; or None."""
    if not nests.is_tensor(tensor) or isinstance(tensor, ops.EagerTensor):
        return None
    if getattr(tensor, "graph", graph) is graph:
        return None
    if tensor.op.type in _VARIABLES:
        return _same_variable(graph, tensor.op)
    source = tensor.op.inputs[0] if tensor.op.type == "Identity" else None
    if source is None or source.op.type not in _VARIABLES:
        return None
    with graph.as_default(), tf.control_dependencies(None):
        variable = _same_variable(graph, source.op)
    with graph.as_default():
        return gen_array_ops.deep_copy(variable)  # Grappler of 1.x moves an Identity up.


def updates_of_references(graph: Graph) -> list[Any]:
    """The ops of a graph that update a reference variable: to TensorFlow they have no effect."""
    return [
        op
        for op in graph.get_operations()
        if any(tensor.dtype._is_ref_dtype for tensor in op.outputs)
        and op.inputs
        and op.type not in ("RefIdentity", "RefEnter", "RefSwitch", "RefMerge")
    ]


def _same_variable(graph: Graph, op: Operation) -> Tensor:
    with graph.as_default(), tf.control_dependencies(None), tf.device(op.device):
        return gen_state_ops.variable_v2(
            shape=op.outputs[0].shape,
            dtype=op.outputs[0].dtype.base_dtype,
            container=op.get_attr("container").decode(),
            shared_name=op.get_attr("shared_name").decode() or op.name,
            name=op.name.rpartition("/")[2],
        )
