"""Where a step is hot: ops, under their layers, under the user's lines."""

import collections
import typing

#: What stands where no line, layer or op is known.
NO_LINE, NO_LAYER, NO_OP = "(no line of the user's)", "(no layer)", "(the compiler's own)"


class Node(typing.NamedTuple):
    """A line, a layer of it, or an op of that, and what is below.

    Args:
      label: the text to show.
      share: of all cycles, 0 to 1.
      ops: how many ops.
      flops, bytes: of all together.
      bound: of an op; "" of others.
      below: `Node` records, the dearest first.
    """

    label: str
    share: float
    ops: int
    flops: float
    bytes: float
    bound: str
    below: tuple


def lines(report):
    """The user's lines, the dearest first.

    Args:
      report: a `report.Report`.

    Returns:
      A list of `Node`: lines of layers of ops.
    """
    return _grouped(
        [(hot.location or NO_LINE, hot.layer or NO_LAYER, hot) for hot in report.hottest]
    )


def _grouped(rows):
    """Nodes of rows (label, further labels..., `report.Hot`)."""
    groups = collections.OrderedDict()
    for label, *rest in rows:
        groups.setdefault(label, []).append(rest)
    nodes = []
    for label, inside in groups.items():
        if len(inside[0]) == 1:
            below = sorted(map(_leaf, (hot for (hot,) in inside)), key=_dearest)
        else:
            below = _grouped(inside)
        parts = zip(*((each.share, each.ops, each.flops, each.bytes) for each in below))
        nodes.append(Node(label, *map(sum, parts), "", tuple(below)))
    return sorted(nodes, key=_dearest)


def _leaf(hot):
    return Node(hot.op_name or NO_OP, hot.share, 1, hot.flops, hot.bytes, hot.bound, ())


def _dearest(node):
    return -node.share, -node.flops, -node.bytes, node.label
