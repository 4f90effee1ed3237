"""Makes variables in cross-replica context as if there were no strategy."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import tensorflow as tf

from tpudist.tfcompat import distributed, functions
from tpudist.virtual.trace import function_graphs

if TYPE_CHECKING:
    from typing import Any, Callable, Iterator

    from tpudist.tfcompat.annotations import Extended


#: The arguments of a plain variable's constructor.
_ARGUMENTS = (
    "initial_value",
    "trainable",
    "collections",
    "validate_shape",
    "caching_device",
    "name",
    "dtype",
    "constraint",
)


class _Plain(distributed.ResourceVariable):
    """An optimizer's slot, with the methods by which TensorFlow gets a variable's component."""

    def get(self, *unused_device: Any, **unused_named: Any) -> Any:
        """The variable itself. The method's name until 2.1; those of 2.2 and 2.4 follow."""
        return self

    _get_closest = _get_on_device_or_primary = get


@contextlib.contextmanager
def plain(extended: Extended, names: Any) -> Iterator[Any]:
    """Context manager: code in cross-replica context sees no strategy, and makes plain variables.

    Args:
      extended: the `VirtualExtended` on whose device the variables are.
      names: the variable scope that names are looked up in.
    """

    def create(unused_next_creator: Callable[..., Any], **kwargs: Any) -> Any:
        arguments = {name: kwargs[name] for name in _ARGUMENTS if kwargs.get(name) is not None}
        with function_graphs.outside(arguments), extended.place():
            return _Plain(**arguments)

    with contextlib.ExitStack() as stack:
        for graph in _graphs_around():  # tf.init_scope leaves the inner ones
            stack.enter_context(graph.as_default())
            stack.enter_context(distributed.no_strategy())
            stack.enter_context(tf.variable_creator_scope(create))
        stack.enter_context(tf.compat.v1.variable_scope(names, auxiliary_name_scope=False))
        yield


def _graphs_around() -> Any:
    """The current graph and those that it is a function of, outermost first."""
    graphs = [tf.compat.v1.get_default_graph()]
    while isinstance(graphs[0], functions.FuncGraph):
        graphs.insert(0, graphs[0].outer_graph)
    return graphs
