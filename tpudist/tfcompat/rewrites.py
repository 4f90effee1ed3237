"""Changes graphs that are traced, and copies of the functions that they call.

Like :mod:`tpudist.tfcompat.functions`, this hides differences between releases; no
semantics live here.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, Iterator

import tensorflow as tf
from tensorflow.core.framework import function_pb2

from tpudist.tfcompat import graphs

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import NodeDef, Operation


@contextlib.contextmanager
def beside(op: Operation) -> Iterator[None]:
    """Adds ops to the graph of `op`, on its device, in its loop or branch of TensorFlow 1."""
    graph: Any = op.graph
    with graph.as_default(), graph.device(None), graph.device(op.device):
        with tf.control_dependencies(None):  # the end of this block restores the loop or branch
            graph._set_control_flow_context(graphs.flow_of(op))
            yield


class FunctionCopies:
    """Copies of the functions that ops call, and of those that these call, each made once.

    A subclass says in :meth:`change` what differs; a function without a difference is kept.

    Args:
      source: the graph that knows the functions.
      target: the graph whose ops will call the copies.
    """

    def __init__(self, source: Any, target: Any) -> None:
        self._source = source
        self._target = target
        self._names: dict[str, str] = {}

    def change(self, definition: Any) -> None:
        """Changes a copy of a ``FunctionDef``, whose nodes call copies already."""
        raise NotImplementedError

    def call(self, node: NodeDef) -> None:
        """Makes a ``NodeDef`` call the copies of its functions."""
        for function in graphs.called_by(node):
            if function.name not in self._names:
                self._names[function.name] = function.name  # if it calls itself
                self._names[function.name] = self._copy(function.name)
            function.name = self._names[function.name]

    def call_from(self, op: Operation) -> None:
        """Makes `op`, of a graph that has not run, call the copies of its functions."""
        node, before = op.node_def, op.node_def.attr
        self.call(node)
        for name, value in node.attr.items():
            if value != before[name]:
                op._set_attr(name, value)

    def _copy(self, name: str) -> str:
        original = graphs.definition(self._source, name)
        if original is None:
            return name
        made = function_pb2.FunctionDef()
        made.CopyFrom(original)
        for node in made.node_def:
            self.call(node)
        self.change(made)
        return name if made == original else graphs.add_function(self._target, made)
