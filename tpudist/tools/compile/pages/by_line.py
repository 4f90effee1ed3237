"""Groups what a report measures by the user's lines: cost, and memory at the peak."""

from __future__ import annotations

import collections
from typing import Any, NamedTuple, Sequence

from tpudist.tools.compile.report import Buffer, Hot, Report

#: Labels where the line, the layer or the op is not known.
NO_LINE, NO_LAYER, NO_OP = "(no line of the user's)", "(no layer)", "(the compiler's own)"


class Node(NamedTuple):
    """One node of the cost tree: a line, a layer, an instruction or an op."""

    label: str  # the text to show
    instruction: str  # the instruction's name, of an op that is all of one; else ""
    share: float  # of all cycles, 0 to 1
    ops: int  # how many ops the node has
    # of all of its ops together
    flops: float
    bytes: float
    bound: str  # of an op, see `report.Hot`; "" of others
    below: tuple[Node, ...]  # `Node` records, the most expensive first


def costs(report: Report) -> list[Node]:
    """Returns the cost tree: lines, their layers, their instructions, their ops.

    The most expensive comes first. An instruction with a single op is a leaf.
    """
    return _grouped(
        [
            (hot.location or NO_LINE, hot.layer or NO_LAYER, hot.instruction, hot)
            for hot in report.hottest
        ]
    )


def _grouped(rows: Sequence[tuple[Any, ...]]) -> list[Node]:
    """Returns the nodes of rows (label, further labels..., `report.Hot`)."""
    groups: dict[str, list[list[Any]]] = collections.OrderedDict()
    for label, *rest in rows:
        groups.setdefault(label, []).append(rest)
    nodes = []
    for label, members in groups.items():
        if len(members[0]) == 1:
            below = sorted((_leaf(hot) for (hot,) in members), key=_most_expensive_first)
            if len(below) == 1:
                nodes += [below[0]._replace(instruction=label)]
                continue
        else:
            below = _grouped([tuple(rest) for rest in members])
        nodes.append(
            Node(
                label,
                "",
                sum(each.share for each in below),
                len({rest[-1].op_name for rest in members}),
                sum(each.flops for each in below),
                sum(each.bytes for each in below),
                "",
                tuple(below),
            )
        )
    return sorted(nodes, key=_most_expensive_first)


def _leaf(hot: Hot) -> Node:
    return Node(hot.op_name or NO_OP, "", hot.share, 1, hot.flops, hot.bytes, hot.bound, ())


def _most_expensive_first(node: Node) -> tuple[float, float, float, str]:
    return -node.share, -node.flops, -node.bytes, node.label


def peak_memory(report: Report) -> list[tuple[str, int, list[Buffer]]]:
    """Groups the arrays that are live at the peak of memory by the lines that made them.

    Returns:
      A list of (line, bytes of its arrays together, the arrays), the line with the most
      bytes first.
    """
    by_line: dict[str, list[Buffer]] = collections.OrderedDict()
    for each in report.alive:
        by_line.setdefault(each.location or NO_LINE, []).append(each)
    sizes = [
        (line, sum(each.bytes for each in buffers), buffers) for line, buffers in by_line.items()
    ]
    return sorted(sizes, key=lambda each: -each[1])
