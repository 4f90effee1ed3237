"""Writes the table CHANGED_NAMES: what TensorFlow 1 and 2 both have, and differs.

    python -m compat.make.changed_names PYTHON_OF_1_15 [PYTHON_OF_A_2_X ...]

It compares, by inspection, what TensorFlow 1.15 takes with what the installed release takes,
the newest, of every public name that both have; the older releases of TensorFlow 2 answer for
names that the installed one no longer has (2.15 made the table). What the parameters do not say
is in `compat.make.changed_meanings`. A row, sorted:

    NAME | PARAMETERS IN TENSORFLOW 1 | IN TENSORFLOW 2 | MARKS | FACT

A parameter is ``name``, ``name=default``, ``*name``, ``**name`` or ``*``. Those of TensorFlow 1
are 1.15's, and those that ``tf.compat.v1`` of the installed release takes too. Marks: ``kept``
if that takes all that 1.15 takes, else ``lost``; ``renamed:OLD=NEW``; ``left-out:X`` if the
default of X changed, or the meaning of leaving it out; ``given:X`` if passing X means something
else; ``always`` if the name does whatever is passed; ``last:RELEASE`` that has the name in
TensorFlow 2.
"""

from __future__ import annotations

import ast
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
from typing import Any, Dict, Iterable, Iterator

from compat.make import tables
from compat.make.changed_meanings import EQUAL, EQUAL_DEFAULTS, MEANINGS, RENAMED
from tpudist.surfaces.changed_names import places, takes_any_number

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
#: Parameters that stood first in 1.15 so that a call without keywords fails.
_SENTINELS = ("_sentinel", "keyword_required")
#: What `compat.make.public_signatures` prints.
Signatures = Dict[str, Any]


def signatures(python: str) -> Signatures:
    """What an environment's TensorFlow answers."""
    quiet = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3", PYTHONPATH=str(ROOT))
    printed = subprocess.run(
        [python, "-W", "ignore", "-m", "compat.make.public_signatures"],
        env=quiet,
        check=True,
        stdout=subprocess.PIPE,
    )
    return json.loads(printed.stdout.decode().splitlines()[-1])


def differing(newest: Signatures) -> set[str]:
    """The names whose objects are others in ``tf`` and ``tf.compat.v1`` of a release."""
    return set(newest["first"]).intersection(newest["second"]).difference(newest["alike"])


def equal_names() -> dict[str, str]:
    """{name whose objects differ, but mean the same by the same arguments: the reason}."""
    return {name: reason for reason, names in EQUAL.items() for name in names.split()}


def lines(
    old: Signatures,
    newest: Signatures,
    between: Iterable[Signatures],
    renamed: dict[str, dict[str, str]],
) -> Iterator[str]:
    """The rows of the table.

    Args:
      old: TensorFlow 1.15's answer.
      newest: the installed release's.
      between: older releases of TensorFlow 2, the newest of them first.
      renamed: {name: {parameter of TensorFlow 1: what TensorFlow 2 calls it}}.

    Raises:
      LookupError: names differ by neither parameters nor `MEANINGS`, and are not in `EQUAL`.
    """
    found, unknown = {}, []
    for release in [newest, *between]:
        last = "" if release is newest else release["release"].rpartition(".")[0]
        for name in old["first"].keys() & release["second"].keys() - found.keys():
            if last and (_answers(newest, name) or name not in newest["first"]):
                continue
            if not _may_differ(name, old, newest, release):
                continue
            takes = old["first"][name], newest["first"].get(name), release["second"][name]
            found[name] = line = row(name, *takes, renamed.get(name, {}), last)
            unknown += [] if line else [name]
    if unknown:
        raise LookupError("add to EQUAL or MEANINGS: %s" % " ".join(sorted(unknown)))
    return iter(found[name] for name in sorted(found))


def _answers(newest: Signatures, name: str) -> bool:
    """Whether the installed TensorFlow 2 has a name, or the class of a method."""
    return name in newest["second"] or name.rpartition(".")[0] in newest["second"]


def _may_differ(name: str, old: Signatures, newest: Signatures, release: Signatures) -> bool:
    first, second = old["first"][name], release["second"][name]
    if name in equal_names() or (name in release["alike"] and None in (first, second)):
        return False
    in_v1 = newest["first"].get(name)
    return name not in release["alike"] or in_v1 is None or not is_kept(first, in_v1)


def row(
    name: str,
    first: list[str],
    in_v1: list[str] | None,
    second: list[str],
    renamed: dict[str, str],
    last: str = "",
) -> str:
    """The line of a name, "" if nothing is different.

    Args:
      name: below ``tf``.
      first: parameters in 1.15.
      in_v1: parameters in ``tf.compat.v1`` of the installed release, None if it lacks the name.
      second: parameters in TensorFlow 2.
      renamed: {parameter of TensorFlow 1: what TensorFlow 2 calls it}.
      last: the release of TensorFlow 2, "" if it is the installed one.
    """
    kept = in_v1 is not None and is_kept(first, in_v1)
    first = merged(first, in_v1 or [], kept)
    marks, fact = MEANINGS.get(name, ("", ""))
    words = _changes(first, second, renamed) + marks.split() + ["last:" + last] * bool(last)
    if not words and _names(first) == _names(second) and _required(first) == _required(second):
        return ""
    columns = [name, *map(" ".join, (first, second, ["kept" if kept else "lost", *words])), fact]
    return " | ".join(columns).rstrip(" |")


def _changes(first: list[str], second: list[str], renamed: dict[str, str]) -> list[str]:
    """The marks that say which parameters have other names and other defaults."""
    old, new = dict(map(_split, first)), dict(map(_split, second))
    pairs = {each: to for each, to in renamed.items() if each in old and to in new}
    words = ["renamed:%s=%s" % pair for pair in sorted(pairs.items())]
    for parameter in old.keys() & new.keys() - {"name"}:
        aliases = [each for each, to in pairs.items() if to == parameter]
        defaults = [old[each] for each in (parameter, *aliases)]
        if not any(_is_same_default(parameter, each, new[parameter]) for each in defaults):
            words.append("left-out:" + parameter)
    return sorted(words)


def _is_same_default(parameter: str, first: str, second: str) -> bool:
    """Whether leaving a parameter out means the same; also where one needs it."""
    if not first or not second or first == second:
        return True
    if (parameter, first, second) in EQUAL_DEFAULTS:
        return True
    try:
        return ast.literal_eval(first) == ast.literal_eval(second) is not None
    except ValueError:
        return False


def renamed_parameters() -> dict[str, dict[str, str]]:
    """{name: {parameter of TensorFlow 1: what TensorFlow 2 calls it}}.

    They are those of the installed ``tf_upgrade_v2``, whose source is read, not imported or run,
    and those of `RENAMED`.
    """
    table = upgrade_table("tf_upgrade_v2.py", "function_keyword_renames")
    found = {
        name.partition(".")[2]: {old: new for old, new in pairs.items() if new}
        for name, pairs in table.items()
    }
    for name, words in RENAMED.items():
        found[name] = {**found.get(name, {}), **dict(map(_split, words.split()))}
    return found


def upgrade_table(file: str, table: str) -> dict[Any, Any]:
    """A table of literals of the installed ``tf_upgrade_v2``: of its module, or of its class."""
    spec = importlib.util.find_spec("tensorflow")
    assert spec is not None and spec.origin is not None
    path = pathlib.Path(spec.origin).parent / "tools" / "compatibility" / file
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Assign):
            target = node.targets[0]
            if getattr(target, "id", getattr(target, "attr", "")) == table:
                return dict(ast.literal_eval(node.value))
    raise LookupError("%s has no %s" % (path, table))


def is_kept(first: list[str], in_v1: list[str]) -> bool:
    """Whether all that 1.15 takes is taken by ``tf.compat.v1``, at the same places."""
    old, new = _names(_starred(first)), _names(_starred(in_v1))
    before, today = places(old), places(new)
    if before[: len(today)] != today[: len(before)]:
        return False
    if len(before) > len(today) and not takes_any_number(new):
        return False
    any_keyword = any(each.startswith("**") for each in new)
    if not (any_keyword or set(old).difference("*") <= {*new, *before}):
        return False
    return _required(in_v1) <= _required(first)


def merged(first: list[str], in_v1: list[str], kept: bool) -> list[str]:
    """The parameters of TensorFlow 1: 1.15's, and what ``tf.compat.v1`` takes besides."""
    if kept:
        defaults = {_bare(each): each for each in first}
        return _starred([defaults.get(_bare(each), each) for each in in_v1])
    first = _starred(first)
    known = set(_names(first))
    later = [each for each in in_v1 if _bare(each) not in known and "=" in each]
    end = len(first) - sum(each.startswith("**") for each in first)
    star = ["*"] if later and len(places(_names(first))) == end else []
    return first[:end] + star + later + first[end:]


def _starred(parameters: list[str]) -> list[str]:
    """The parameters, with ``*`` in place of one that only stops calls without keywords."""
    stopped = parameters and _bare(parameters[0]) in _SENTINELS
    return ["*", *parameters[1:]] if stopped else parameters


def _required(parameters: list[str]) -> set[str]:
    return {each for each in parameters if "=" not in each and not each.startswith("*")}


def _names(parameters: list[str]) -> list[str]:
    return [_bare(each) for each in parameters]


def _bare(parameter: str) -> str:
    return parameter.partition("=")[0]


def _split(parameter: str) -> tuple[str, str]:
    name, _, default = parameter.partition("=")
    return name, default


def comments(releases: Iterable[str]) -> list[str]:
    """The comments of the table.

    Args:
      releases: what answered; the installed one last.
    """
    return [
        "# Names that TensorFlow 1 and 2 both have, and that differ. Written by:",
        "# python -m compat.make.changed_names, from TensorFlow %s." % ", ".join(releases),
        "# NAME | PARAMETERS IN TENSORFLOW 1 | IN TENSORFLOW 2 | MARKS | FACT   (see that module)",
    ]


def main(pythons: list[str]) -> int:
    """Writes the table; returns 0, or 2 without environments."""
    if not pythons:
        print(__doc__)
        return 2
    old, *between = map(signatures, pythons)
    newest = signatures(sys.executable)
    releases = [each["release"] for each in (old, *between, newest)]
    found = lines(old, newest, between, renamed_parameters())
    tables.write("CHANGED_NAMES", found, comments(releases))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
