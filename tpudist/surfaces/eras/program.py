"""Reads the files of a program for its era and its use of Keras, before it runs.

The script and the user's modules that it imports are read. Nothing is run.
"""

from __future__ import annotations

import ast
import os
import warnings
from typing import TYPE_CHECKING, Iterable, Iterator, List, NamedTuple, Sequence, Tuple

from tpudist import machine, surfaces
from tpudist.errors import ScriptError
from tpudist.surfaces.eras import decisions, evidence, notebook_cells, packages, reach, walks
from tpudist.surfaces.eras.keras import Keras

if TYPE_CHECKING:
    from tpudist.surfaces.eras.decisions import Decision
    from tpudist.surfaces.eras.evidence import Evidence

    #: (path of a file, why it cannot be read).
    _Faults = List[Tuple[str, Exception]]


class Reading(NamedTuple):
    """The era and the Keras of a program, and a line for each file that cannot be read."""

    decision: Decision
    keras: Keras
    faults: list[str]


def read(
    script: str, start: str | None = None, also: Sequence[str] = (), left_out: Sequence[str] = ()
) -> Reading:
    """Reads a script and the user's modules that it imports; no error is raised.

    If they have no evidence of an era, the installed packages that they import decide. `start` is
    the folder that was named for the script's own, or None to find it by its path; `also` are
    installed packages that are the user's, `left_out` packages and modules that are not. What
    cannot be read is among the faults, and the rest decides.
    """
    clues: list[Evidence] = []
    files: dict[str, reach.Parts] = {}
    walk = Walk(script, start, also, left_out)
    keras = Keras(walk.places)
    for path, tree in walk.files():
        try:
            files[path], nodes = reach.Parts(tree), walks.nodes(tree)
            uses = evidence.uses(nodes, path)
            clues += uses.evidence
            keras.add(nodes, uses.names, path)
        except Exception as error:  # whatever it is, the program may run all the same  # noqa: BLE001
            walk.faults.append((path, error))
    clues = _placed(clues, files)
    decision = decisions.decide(clues)
    if not decision.decisive:
        others = [each for name in walk.installed.values() for each in packages.names_of(name)]
        decision = decisions.decide(
            clues + [each for each in others if each.kind in packages.DECIDING]
        )
    lines = [_line(path, error) for path, error in walk.faults]
    return Reading(decision, keras, lines)


def _placed(clues: list[Evidence], files: dict[str, reach.Parts]) -> list[Evidence]:
    """The evidence with the place of each in the program, whose script is the first file."""
    running, script = reach.reached(files), next(iter(files), "")
    placed = []
    for each in clues:
        of_script = each.path == script
        place = evidence.OF_SCRIPT if of_script else evidence.CALLED
        part = files[each.path].by_line.get(each.line, 0)
        if (each.path, part) not in running:
            place = evidence.ASIDE if of_script else evidence.UNCALLED
        placed.append(each._replace(place=max(place, evidence.ASIDE) if each.guarded else place))
    return placed


def _line(path: str, error: BaseException) -> str:
    words = getattr(error, "seen", None) or "%s: %s" % (type(error).__name__, error)
    words = " ".join(words.split())
    return "%sthe era is found without it" % (
        words + "; " if path in words else "%s cannot be read (%s); " % (path, words)
    )


class Walk:
    """Goes through the files of a program; arguments as of `read`.

    `places` are the folders that its own modules are looked for in, `installed` has {top package:
    its folder or file} of those that are installed and imported, `faults` (path, error) of each
    file that cannot be read.
    """

    def __init__(
        self,
        script: str,
        start: str | None = None,
        also: Sequence[str] = (),
        left_out: Sequence[str] = (),
    ) -> None:
        self._script = os.path.realpath(script)
        self._folder = own_folder(self._script, start)
        self.places = _places(self._script) + ([self._folder] if start else [])
        self._also, self._left_out = also, left_out
        self._bases: dict[str, list[tuple[str, str]]] = {}
        self.installed: dict[str, str] = {}
        self.faults: _Faults = []

    def files(self) -> Iterator[tuple[str, ast.Module]]:
        """Yields (path, syntax tree) of the script and the user's modules that it imports."""
        todo = [(self._script, self._folder)]
        seen = {self._script}
        for path, folder in todo:
            try:
                tree = parse(path)
                yield path, tree
                for found in self._imported(tree, path, folder):
                    if found[0] not in seen:
                        seen.add(found[0])
                        todo.append(found)
            except Exception as error:  # the program may never import it  # noqa: BLE001
                self.faults.append((path, error))

    def _imported(self, tree: ast.Module, path: str, folder: str) -> Iterator[tuple[str, str]]:
        """Yields (path, the folder that its package is in) of the files that a file imports."""
        for level, dotted in _imports(tree):
            if not level and is_named(dotted, self._left_out):
                continue
            if level:
                base = os.path.normpath(os.path.join(path, *[os.pardir] * level))
                every = [(base, folder)]
            else:
                every = [(base, self._folder) for base in self.places]
                every += self._elsewhere(dotted.partition(".")[0])
            for base, below in every:
                for found in _module_files(base, dotted, below):
                    yield found, below

    def _elsewhere(self, top: str) -> list[tuple[str, str]]:
        """[(folder, folder)] around a package of the user's that is in another place; else []."""
        if top not in self._bases:
            self._bases[top] = []
            found, where = packages.find(top) if top else (None, packages.NOBODYS)
            if where == packages.INSTALLED and top not in self._also:
                self.installed[top] = str(found)
            elif found and where != packages.NOBODYS:
                self._bases[top] = [(os.path.dirname(found),) * 2]
        return self._bases[top]


def is_named(dotted: str, packages_: Iterable[str]) -> bool:
    """Whether a module is one of some packages, or below one of them, by their dotted names."""
    return any((dotted + ".").startswith(each + ".") for each in packages_)


def own_folder(script: str, start: str | None = None) -> str:
    """The folder of the user's files: `start`, if it is named, or found by the script's path.

    It is the script's, or that of the package it is a part of, or the first of PYTHONPATH's that
    the script stands below.
    """
    if start is not None:
        return os.path.realpath(start)
    above = _above(script)
    return above[-1] if above else _package(script)


def _package(script: str) -> str:
    """The script's folder, or that of the topmost package it is a part of."""
    folder = os.path.dirname(os.path.realpath(script))
    while all(
        os.path.exists(os.path.join(each, "__init__.py"))
        for each in (folder, os.path.dirname(folder))
    ):
        folder = os.path.dirname(folder)
    return folder


def _above(script: str) -> list[str]:
    """The folders of PYTHONPATH that a script stands below, the nearest first."""
    script = os.path.realpath(script)
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    named = [os.path.realpath(each) for each in paths if each]
    above = {each for each in named if script.startswith(os.path.join(each, ""))}
    return sorted(above - {os.path.realpath(os.sep)}, key=len, reverse=True)


def _places(script: str) -> list[str]:
    """The folders in which Python looks for the user's modules."""
    folder, package = os.path.dirname(script), _package(script)
    in_package = os.path.exists(os.path.join(package, "__init__.py"))
    places = [folder] + ([os.path.dirname(package)] if in_package else []) + _above(script)
    return list(dict.fromkeys(places))


def describe(decision: Decision) -> str:
    """One line that says the era and which names decided it."""
    if not decision.decisive:
        return "era: %s, the newest: no name tells one (--era %s)" % (
            surfaces.spelled(decision.era),
            "|".join(map(surfaces.spelled, surfaces.ERAS)),
        )
    line = "era: %s (%s)" % (surfaces.spelled(decision.era), some(decision.decisive))
    if decision.outvoted:
        line += "; not %s (%s): --era overrides" % (
            "/".join(
                sorted(
                    {
                        surfaces.spelled((each.eras or surfaces.ERAS)[-1])
                        for each in decision.outvoted
                    }
                )
            ),
            some(decision.outvoted),
        )
    return line


def doubt(decision: Decision) -> list[str]:
    """The lines to print if a program fails whose era some of its names contradict."""
    if not decision.outvoted:
        return []
    is_of_2_0 = any(each.name == ".experimental_run_v2" for each in decision.outvoted)
    newest = "2.0" if is_of_2_0 else "2.2"
    return [
        "tpudist run: the era %s was read from names, and %s speaks against it: if the error comes "
        "of that, --era %s"
        % (
            surfaces.spelled(decision.era),
            some(decision.outvoted),
            "contrib" if decision.era != "contrib" else newest,
        )
    ]


def parse(path: str) -> ast.Module:
    """The syntax tree of a Python 3 file.

    Raises:
      ScriptError: it cannot be read or parsed; says where.
    """
    try:
        if path.endswith(".ipynb"):
            source: str | bytes = notebook_cells.python(path)
        else:
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
            "if it is Python 2, 2to3 -w %s" % os.path.basename(path),
        ) from error


def some(names: Iterable[Evidence], most: int = 2) -> str:
    """ "tf.Session at train.py:3, ..., and 2 more" of a list of Evidence."""
    shown: list[Evidence] = []
    for each in names:
        if each.name not in [other.name for other in shown]:
            shown.append(each)
    text = ", ".join(
        "%s at %s:%d" % (each.name, os.path.basename(each.path), each.line) for each in shown[:most]
    )
    rest = len(shown) - most
    return text + (", and %d more" % rest if rest > 0 else "")


def _imports(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yields (level, dotted name) of the modules that a file may import."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((0, name.name) for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            yield node.level, module
            for name in node.names:
                yield node.level, (module + "." + name.name).strip(".")


def _module_files(base: str, dotted: str, folder: str) -> Iterator[str]:
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
