"""The names of ``tf.contrib`` in a user's files, and where each leads here.

The answers are the table's (`tpudist.leads.lead`), as of the drop-in namespace and the
codemod. Files are read, never run.
"""

from __future__ import annotations

import os
from typing import Iterator, NamedTuple, Sequence

from tpudist.errors import ArgumentError
from tpudist.surfaces import leads
from tpudist.surfaces.eras import evidence, walks


class Use(NamedTuple):
    """A name of contrib that a file uses."""

    path: str
    line: int
    name: str  # dotted name below ``tf``
    kind: str  # as of `tpudist.leads.Lead`; of a module whose names lead elsewhere "module"
    leads_to: str  # full dotted name; "" if nobody has it
    package: str  # what has to be installed for it beside TensorFlow, as pip names it; ""
    instead: str  # what to type, of a name that nobody has


def of_paths(paths: Sequence[str]) -> list[Use]:
    """Every use of a name of contrib in files, and in the ``.py`` files of folders.

    Raises:
      ArgumentError: there is no such path, or a file cannot be read as Python.
    """
    return [each for path in paths for file in _files(path) for each in _of_file(file)]


def _files(path: str) -> Iterator[str]:
    if os.path.isfile(path):
        yield path
    elif not os.path.isdir(path):
        raise ArgumentError(
            "no file or folder %s" % path,
            "tpudist doctor looks up the names in files; the working folder is %s" % os.getcwd(),
            "tpudist doctor alone for what is installed, or a path that is there",
        )
    for folder, below, names in os.walk(path):
        below[:] = sorted(name for name in below if not name.startswith((".", "__pycache__")))
        yield from (os.path.join(folder, name) for name in sorted(names) if name.endswith(".py"))


def _of_file(path: str) -> Iterator[Use]:
    try:
        with open(path, "rb") as file:
            tree = walks.parse(file.read())
    except (SyntaxError, ValueError) as error:
        raise ArgumentError(
            "%s: %s" % (path, error),
            "it is not Python 3, and names can only be looked up in what can be read",
            "tpudist doctor with the files that are",
        ) from error
    seen = set()
    for name, line in evidence.uses(walks.nodes(tree), path).names:
        if name.startswith("contrib.") and (name, line) not in seen:
            seen.add((name, line))
            yield use(path, line, name)


def use(path: str, line: int, name: str) -> Use:
    """The use of a dotted name below ``tf`` at a place."""
    lead = _lead(name)
    gone = lead.kind == "gone"
    kind = "module" if gone and leads.leads_below(name) else lead.kind
    instead = leads.gone_text(name) if kind == "gone" else ""
    return Use(path, line, name, kind, lead.target, lead.package, instead)


def _lead(name: str) -> leads.Lead:
    """Where a name leads; an attribute of a class, such as an enumeration's, goes with it."""
    lead, (owner, _, attribute) = leads.lead(name), name.rpartition(".")
    if lead.kind != "gone" or not owner.rpartition(".")[2][:1].isupper():
        return lead
    of_class = leads.lead(owner)
    return (
        of_class
        if of_class.kind == "gone"
        else of_class._replace(target="%s.%s" % (of_class.target, attribute))
    )
