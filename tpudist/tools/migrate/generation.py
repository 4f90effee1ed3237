"""Decides whether a file was written for TensorFlow 1 or 2.

By its names, by the arguments of its calls, or by ``# tpudist: tf1``; without any of these by the
files that it is used with.
"""

from __future__ import annotations

import ast
import re
from typing import Iterable, Iterator, Mapping, NamedTuple, Sequence

from tpudist.surfaces import changed_names
from tpudist.surfaces.eras import evidence, local_names, walks
from tpudist.surfaces.eras.evidence import Evidence
from tpudist.tools.migrate.resolution.codebase import CodeBase

FIRST, SECOND, BOTH = "TensorFlow 1", "TensorFlow 2", "TensorFlow 1 and 2"
BATCH_NORM = "keras.layers.BatchNormalization"
#: Names that belong to an era, or say their generation themselves.
_OF_OTHERS = ("distribute.", "tpu.", "compat.")
#: What a user says of a file.
_MARK = re.compile(r"#\s*tpudist:\s*tf([12])\b")


class Hints(NamedTuple):
    """Hints on the TensorFlow generation of a file."""

    first: bool = False  # it has what only TensorFlow 1 has or takes, without asking for it
    second: bool = False  # the same, of TensorFlow 2
    differs: bool = False  # it has a call that means something else in the other generation


def of_file(
    text: str, nodes: walks.Nodes, bindings: local_names.Bindings, found: Sequence[Evidence]
) -> Hints:
    """The hints in a file, from its source, nodes, names and `Evidence`."""
    mark = _MARK.search(text)
    if mark is not None:
        return Hints(first=mark.group(1) == "1", second=mark.group(1) == "2")
    kinds = {each.kind for each in found if not each.guarded}
    is_of_an_era = any(each.kind == evidence.STATED for each in found)
    calls = set() if is_of_an_era else set(_calls(nodes, bindings))
    return Hints(
        evidence.FIRST_GENERATION in kinds or changed_names.FIRST in calls,
        evidence.SECOND_GENERATION in kinds or changed_names.SECOND in calls,
        changed_names.BOTH in calls or freezes_batch_norm(nodes, bindings.dotted_names.values()),
    )


def freezes_batch_norm(nodes: walks.Nodes, names: Iterable[str | None]) -> bool:
    """Whether a file with these names of TensorFlow sets ``trainable`` of a layer to False."""
    return BATCH_NORM in names and any(
        walks.last_word(target) == "trainable" and getattr(each.value, "value", None) is False
        for each in nodes.of(ast.Assign)
        for target in each.targets
    )


def _calls(nodes: walks.Nodes, bindings: local_names.Bindings) -> Iterator[str]:
    """Yields the generation of each call of a name that both have, as `changed_names` has it."""
    for call in nodes.of(ast.Call) if bindings.dotted_names else ():
        dotted = bindings.dotted_names.get(call.func)
        if dotted and not dotted.startswith(_OF_OTHERS):
            stars = [each for each in call.args if type(each) is ast.Starred]
            keywords = [each.arg for each in call.keywords if each.arg]
            is_complete = not stars and len(keywords) == len(call.keywords)
            positional = len(call.args) - len(stars)
            yield changed_names.generation(dotted, positional, keywords, is_complete)
            if changed_names.defaults_left_out(dotted, positional, keywords):
                yield changed_names.BOTH


def of_program(codebase: CodeBase, path: str, known: Mapping[str, str], origin: str) -> str:
    """The generation of a file without hints: that of the nearest `known` files, `BOTH`, or ""."""
    if origin != "auto":
        return FIRST if origin.startswith("1") else SECOND
    for related in (codebase.above, codebase.below, codebase.programs):
        found = {known[each] for each in related([path]) if each in known}
        if found:
            return found.pop() if len(found) == 1 else BOTH
    return ""
