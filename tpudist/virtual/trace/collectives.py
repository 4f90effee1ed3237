"""Counts the collectives of a traced program by reading its graph.

On a TPU each collective is an op. On the virtual TPU other ops do the same on one device, under the
collective's name (see :func:`function_graphs.named`).
"""

from __future__ import annotations

import collections
import re
from typing import TYPE_CHECKING, Any, Collection, Iterator

import tensorflow as tf

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import Args, Fn, Graph, Kwargs


#: {op type of a collective: its kind}
OPS = {
    **dict.fromkeys(("CrossReplicaSum", "XlaAllReduce", "NcclAllReduce"), "all_reduce"),
    **dict.fromkeys(["CollectiveReduce" + each for each in ("", "V2", "V3")], "all_reduce"),
    **dict.fromkeys(("CollectiveGather", "CollectiveGatherV2"), "all_gather"),
    **dict.fromkeys(("AllToAll", "CollectiveAllToAllV3"), "all_to_all"),
    **dict.fromkeys(("XlaReduceScatter", "CollectiveReduceScatterV2"), "reduce_scatter"),
    **dict.fromkeys(("CollectiveBcastSend", "CollectiveBcastSendV2"), "broadcast"),
    "CollectivePermute": "permute",
}

#: {name for :func:`function_graphs.named`: kind of collective}
NAMES = {"AllReduce": "all_reduce", "AllGather": "all_gather"}

_SCOPE = re.compile(r"^((?:.*/)?(%s)(?:_\d+)?)/[^/]+$" % "|".join(NAMES))

#: A function's argument has the name of its placeholder, in lower case.
_ARGUMENT = re.compile(
    r"(?:^|_)(%s)(?:_\d+)?_placeholder(?:_\d+)?$" % "|".join(name.lower() for name in NAMES)
)


def traced(fn: Fn, args: Args = (), kwargs: Kwargs | None = None) -> dict[str, int]:
    """Counts the collectives of a function's program by kind, ``{"all_reduce": 2}``."""
    kwargs = kwargs or {}
    if not tf.executing_eagerly():
        graph = tf.compat.v1.get_default_graph()
        before = {op.name for op in graph.get_operations()}
        fn(*args, **kwargs)
        return of_graph(graph, before)
    function: Any = fn if hasattr(fn, "get_concrete_function") else tf.function(fn)
    return of_graph(function.get_concrete_function(*args, **kwargs).graph)


def of_graph(graph: Graph, without: Collection[str] = ()) -> dict[str, int]:
    """The collectives in a graph and the functions that it calls, `without` ops of these names."""
    definition = graph.as_graph_def()
    library = {function.signature.name: function for function in definition.library.function}
    kind_of_argument = {name.lower(): kind for name, kind in NAMES.items()}
    kinds: collections.Counter[str] = collections.Counter()
    pending: list[Any] = [([node for node in definition.node if node.name not in without], ())]
    while pending:
        nodes, arguments = pending.pop()
        kinds.update(OPS[node.op] for node in nodes if node.op in OPS)
        scopes = [_SCOPE.match(node.name) for node in nodes if node.op not in OPS]
        kinds.update({scope.group(1): NAMES[scope.group(2)] for scope in scopes if scope}.values())
        matches = [_ARGUMENT.search(each.name) for each in arguments]
        kinds.update(kind_of_argument[each.group(1)] for each in matches if each)
        for called in [library[name] for name in _called(nodes) if name in library]:
            pending.append((called.node_def, called.signature.input_arg))
    return dict(kinds)


def _called(nodes: Any) -> Iterator[str]:
    """Names of the functions that the nodes call, one for each call."""
    for node in nodes:
        for attribute in node.attr.values():
            for function in [attribute.func] + list(attribute.list.func):
                if function.name:
                    yield function.name
