"""Decides whether a file was written for TensorFlow 1 or 2.

What one file tells by its names, by the arguments of its calls, or by ``# tpudist: tf1``; and what
the files that it is used with tell for a file that does not.
"""

from __future__ import annotations

import ast
import re
from typing import Iterator, Mapping, NamedTuple, Sequence

from tpudist.surfaces import changed_names
from tpudist.surfaces.eras import evidence, local_names, walks
from tpudist.surfaces.eras.evidence import Evidence
from tpudist.tools.migrate.resolution.codebase import CodeBase

FIRST, SECOND = "TensorFlow 1", "TensorFlow 2"
#: Names that tell an era, or say their generation themselves.
_OF_OTHERS = ("distribute.", "tpu.", "compat.")
#: What a user says of a file.
_MARK = re.compile(r"#\s*tpudist:\s*tf([12])\b")


class Tells(NamedTuple):
    """Hints on the TensorFlow generation of a file, each a sentence; "" for none."""

    first: str = ""  # what only TensorFlow 1 has or takes, without asking if it is there
    second: str = ""  # the same, of TensorFlow 2
    differs: str = ""  # a call that means something else in the other generation


def of_file(
    text: str, nodes: walks.Nodes, bindings: local_names.Bindings, found: Sequence[Evidence]
) -> Tells:
    """The hints in a file, from its source, nodes, names and `Evidence`."""
    mark = _MARK.search(text)
    if mark is not None:
        line = text.count("\n", 0, mark.start()) + 1
        said = "line %d says tf%s" % (line, mark.group(1))
        return Tells(first=said) if mark.group(1) == "1" else Tells(second=said)
    says: dict[str, str] = {}
    for each in found:
        if not each.guarded:
            says.setdefault(each.kind, "line %d has %s" % (each.line, each.name))
    is_of_an_era = any(each.kind == evidence.STATED for each in found)
    for of, dotted, line in () if is_of_an_era else _calls(nodes, bindings):
        says.setdefault(of, "line %d calls tf.%s" % (line, dotted))
    return Tells(
        says.get(evidence.FIRST_GENERATION) or says.get(changed_names.FIRST, ""),
        says.get(evidence.SECOND_GENERATION) or says.get(changed_names.SECOND, ""),
        says.get(changed_names.BOTH, ""),
    )


def _calls(nodes: walks.Nodes, bindings: local_names.Bindings) -> Iterator[tuple[str, str, int]]:
    """(its generation, the name below ``tf``, line) of each call of what both have."""
    for call in nodes.of(ast.Call) if bindings.dotted_names else ():
        dotted = bindings.dotted_names.get(call.func)
        if dotted and not dotted.startswith(_OF_OTHERS):
            stars = [each for each in call.args if type(each) is ast.Starred]
            keywords = [each.arg for each in call.keywords if each.arg]
            is_complete = not stars and len(keywords) == len(call.keywords)
            positional = len(call.args) - len(stars)
            of = changed_names.generation(dotted, positional, keywords, is_complete)
            yield of, dotted, call.lineno


def of_program(
    codebase: CodeBase, path: str, known: Mapping[str, str], origin: str
) -> tuple[str, str]:
    """The generation of a file without hints: that of the files it is used with.

    Args:
      known: {path: `FIRST` or `SECOND`} of the files that tell.
      origin: ``--from``.

    Returns:
      (`FIRST`, `SECOND` or "", why).
    """
    if origin != "auto":
        return (FIRST if origin.startswith("1") else SECOND), "--from %s" % origin
    for near, how in (
        (codebase.above([path]), "imports it"),
        (codebase.below([path]), "is imported by it"),
        (codebase.programs([path]), "is of a program that it is of"),
    ):
        telling = {known[each]: each for each in sorted(near, reverse=True) if each in known}
        if len(telling) == 2:
            return "", "%s is of %s, %s of %s, and both are used with it" % (
                *(telling[FIRST], FIRST),
                *(telling[SECOND], SECOND),
            )
        for of, other in telling.items():
            return of, "%s, which %s, is of %s" % (other, how, of)
    return "", "no file that it is used with tells one"
