"""Which era was a script written for? Read from its source, never run."""

from __future__ import annotations

import ast
import os
import warnings
from typing import TYPE_CHECKING

from tpudist import machine, surfaces
from tpudist.errors import ScriptError
from tpudist.surfaces.eras import decide, evidence, packages

if TYPE_CHECKING:
    from typing import Any, Iterator, Sequence


def detect(script: Any) -> Any:
    """Finds the era of a script.

    Args:
      script: path of the script. The modules of its own folders that it imports
        are read too; what does not parse among them is left out.

    Returns:
      A `decide.Decision`.

    Raises:
      ScriptError: the script is not Python 3.
    """
    return decide.decide(
        [each for path, tree in files(script) for each in evidence.collect(tree, path)]
    )


def files(
    script: Any,
    faults: Any = None,
    start: str | None = None,
    also: Sequence[str] = (),
    left_out: Sequence[str] = (),
) -> Any:
    """A list of (path, syntax tree): the script, and the user's modules that it imports.

    Args:
      script: the script's path.
      faults: a list that gets (path, error) of each module that cannot be read.
      start: the folder that was named for the script's own, or None to tell from its path.
      also: installed packages that are the user's.
      left_out: packages and modules that are not.

    Raises:
      ScriptError: the script is not Python 3.
    """
    return list(Walk(script, start, also, left_out).read([] if faults is None else faults))


class Walk:
    """Goes through the files of a program.

    Args:
      script, start, also, left_out: as of `files`.

    Attributes:
      installed: {top package: its folder or file} of those that are installed and imported.
    """

    def __init__(
        self,
        script: Any,
        start: str | None = None,
        also: Sequence[str] = (),
        left_out: Sequence[str] = (),
    ) -> None:
        self._script = os.path.realpath(script)
        self._folder = own_folder(self._script, start)
        self._places = _places(self._script) + ([self._folder] if start else [])
        self._also, self._left_out = also, left_out
        self._bases: dict[str, Any] = {}
        self.installed: dict[str, Any] = {}

    def read(self, faults: Any) -> Iterator[Any]:
        """Yields (path, tree); what cannot be read goes to `faults`."""
        trees = {self._script: parse(self._script)}
        todo = [(self._script, self._folder)]
        seen = {self._script}
        for path, folder in todo:
            try:
                tree = trees.pop(path, None) or parse(path)
                yield path, tree
                for found in self._imported(tree, path, folder):
                    if found[0] not in seen:
                        seen.add(found[0])
                        todo.append(found)
            except Exception as error:  # the program may never import it
                faults.append((path, error))

    def _imported(self, tree: Any, path: Any, folder: str) -> Iterator[Any]:
        """(path, the folder that its package is in) of files that import statements may load."""
        for level, dotted in _imports(tree):
            if not level and is_named(dotted, self._left_out):
                continue
            if level:
                base = os.path.normpath(os.path.join(path, *[os.pardir] * level))
                every = [(base, folder)]
            else:
                every = [(base, self._folder) for base in self._places]
                every += self._elsewhere(dotted.partition(".")[0])
            for base, below in every:
                for found in _module_files(base, dotted, below):
                    yield found, below

    def _elsewhere(self, top: str) -> Any:
        """[(folder, folder)] that a package of the user's is in, which stands elsewhere."""
        if top not in self._bases:
            found, where = packages.find(top) if top else (None, None)
            if where == packages.INSTALLED and top not in self._also:
                self.installed[top] = found
                found = None
            is_users = found and where != packages.NOBODYS
            self._bases[top] = [(os.path.dirname(found),) * 2] if is_users else []
        return self._bases[top]


def is_named(dotted: str, packages_: Any) -> bool:
    """Whether a module is one of some packages, or below one of them.

    Args:
      dotted: its name.
      packages_: dotted names.
    """
    return any((dotted + ".").startswith(each + ".") for each in packages_)


def own_folder(script: Any, start: str | None = None) -> Any:
    """The folder of the user's files.

    The script's, or that of the package it is a part of, or the first of PYTHONPATH's that
    the script stands below.

    Args:
      script: its path.
      start: a folder that was named instead, or None.
    """
    if start is not None:
        return os.path.realpath(start)
    above = _above(script)
    return above[-1] if above else _package(script)


def _package(script: Any) -> Any:
    """The script's folder, or that of the topmost package it is a part of."""
    folder = os.path.dirname(os.path.realpath(script))
    while all(
        os.path.exists(os.path.join(each, "__init__.py"))
        for each in (folder, os.path.dirname(folder))
    ):
        folder = os.path.dirname(folder)
    return folder


def _above(script: Any) -> Any:
    """The folders of PYTHONPATH that a script stands below, the nearest first."""
    script = os.path.realpath(script)
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    named = [os.path.realpath(each) for each in paths if each]
    above = {each for each in named if script.startswith(os.path.join(each, ""))}
    return sorted(above - {os.path.realpath(os.sep)}, key=len, reverse=True)


def _places(script: Any) -> Any:
    """Where Python looks for a module of the user's."""
    folder, package = os.path.dirname(script), _package(script)
    in_package = os.path.exists(os.path.join(package, "__init__.py"))
    places = [folder] + ([os.path.dirname(package)] if in_package else []) + _above(script)
    return list(dict.fromkeys(places))


def describe(decision: Any) -> Any:
    """One line that says the era and which names decided it."""
    if not decision.decisive:
        return "era: %s, the newest: no name tells one (--era %s)" % (
            decision.era,
            "|".join(map(surfaces.spelled, surfaces.ERAS)),
        )
    line = "era: %s (%s)" % (decision.era, some(decision.decisive))
    if decision.outvoted:
        line += "; not %s (%s): --era overrides" % (
            "/".join(sorted({each.eras[-1] for each in decision.outvoted})),
            some(decision.outvoted),
        )
    return line


def parse(path: Any) -> Any:
    """The syntax tree of a Python 3 file.

    Raises:
      ScriptError: it cannot be read or parsed; says where.
    """
    try:
        with open(path, "rb") as file:
            source = file.read()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source, path)
            compile(tree, path, "exec", dont_inherit=True)
        return tree
    except (SyntaxError, ValueError) as error:
        where = "%s:%s" % (path, getattr(error, "lineno", None) or 1)
        raise ScriptError(
            "%s is not Python 3: %s" % (where, getattr(error, "msg", error)),
            "tpudist runs the script in this Python",
            "if it is Python 2, 2to3 -w %s; if it is a notebook, jupyter "
            "nbconvert --to script" % os.path.basename(path),
        ) from error


def some(names: Any, most: int = 2) -> Any:
    """ "tf.Session at train.py:3, ..., and 2 more" of a list of Evidence."""
    shown: list[Any] = []
    for each in names:
        if each.name not in [other.name for other in shown]:
            shown.append(each)
    text = ", ".join(
        "%s at %s:%d" % (each.name, os.path.basename(each.path), each.line) for each in shown[:most]
    )
    rest = len(shown) - most
    return text + (", and %d more" % rest if rest > 0 else "")


def _imports(tree: Any) -> Iterator[Any]:
    """(level, dotted name) of what the import statements of a file may load."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((0, name.name) for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            yield node.level, module
            for name in node.names:
                yield node.level, (module + "." + name.name).strip(".")


def _module_files(base: str, dotted: str, folder: str) -> Iterator[Any]:
    parts = [part for part in dotted.split(".") if part]
    for end in range(len(parts) + 1):
        stem = os.path.join(base, *parts[:end])
        for path in (stem + ".py", os.path.join(stem, "__init__.py")):
            below = os.path.relpath(path, folder)
            if (
                os.path.isfile(path)
                and not below.startswith("..")
                and not machine.is_installed(below)
            ):
                yield os.path.abspath(path)
