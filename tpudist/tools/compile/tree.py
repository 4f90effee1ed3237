"""Where a step is hot: ops in instructions, under their layers, under the user's lines."""

import collections
import typing

#: What stands where no line, layer or op is known.
NO_LINE, NO_LAYER, NO_OP = "(no line of the user's)", "(no layer)", "(the compiler's own)"


class Node(typing.NamedTuple):
    """A line, a layer of it, an instruction of that or an op in it, and what is below.

    Args:
      label: the text to show.
      instruction: of an op that is all of one, its name; "" of others.
      share: of all cycles, 0 to 1.
      ops: how many ops.
      flops, bytes: of all together.
      bound: of an op; "" of others.
      below: `Node` records, the dearest first.
    """

    label: str
    instruction: str
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
      A list of `Node`: lines of layers of instructions of ops. An instruction that is
      all of one op is a leaf.
    """
    return _grouped(
        [
            (hot.location or NO_LINE, hot.layer or NO_LAYER, hot.instruction, hot)
            for hot in report.hottest
        ]
    )


def _grouped(rows):
    """Nodes of rows (label, further labels..., `report.Hot`)."""
    groups = collections.OrderedDict()
    for label, *rest in rows:
        groups.setdefault(label, []).append(rest)
    nodes = []
    for label, inside in groups.items():
        if len(inside[0]) == 1:
            below = sorted((_leaf(hot) for (hot,) in inside), key=_dearest)
            if len(below) == 1:
                nodes += [below[0]._replace(instruction=label)]
                continue
        else:
            below = _grouped(inside)
        share, flops, moved = map(
            sum, zip(*((each.share, each.flops, each.bytes) for each in below))
        )
        ops = len({rest[-1].op_name for rest in inside})
        nodes.append(Node(label, "", share, ops, flops, moved, "", tuple(below)))
    return sorted(nodes, key=_dearest)


def _leaf(hot):
    return Node(hot.op_name or NO_OP, "", hot.share, 1, hot.flops, hot.bytes, hot.bound, ())


def _dearest(node):
    return -node.share, -node.flops, -node.bytes, node.label


def alive(report):
    """The arrays at the peak of memory by the lines that made them, the largest first.

    Args:
      report: a `report.Report`.

    Returns:
      A list of (line, bytes of all together, `report.Buffer` records).
    """
    lines = collections.OrderedDict()
    for each in report.alive:
        lines.setdefault(each.location or NO_LINE, []).append(each)
    found = [(line, sum(each.bytes for each in arrays), arrays) for line, arrays in lines.items()]
    return sorted(found, key=lambda each: -each[1])
