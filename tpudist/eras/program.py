"""Which era was a script written for? Read from its source, never run."""

import ast
import os
import warnings

from tpudist import machine, surfaces
from tpudist.eras import decide, evidence
from tpudist.errors import ScriptError


def detect(script):
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


def files(script, faults=None):
    """A list of (path, syntax tree): the script, and the user's modules that it imports.

    Args:
      script: the script's path.
      faults: a list that gets (path, error) of each module that cannot be read.

    Raises:
      ScriptError: the script is not Python 3.
    """
    script = os.path.realpath(script)
    found = [(script, parse(script))]
    seen = {script}
    for path, tree in found:
        for other in _imported_files(tree, path, _places(script), own_folder(script)):
            if other in seen:
                continue
            seen.add(other)
            try:
                found.append((other, parse(other)))
            except Exception as error:  # the program may never import it
                if faults is not None:
                    faults.append((other, error))
    return found


def own_folder(script):
    """The folder of the user's files.

    The script's, or that of the package it is a part of, or the first of PYTHONPATH's that
    the script stands below.
    """
    above = _above(script)
    return above[-1] if above else _package(script)


def _package(script):
    """The script's folder, or that of the topmost package it is a part of."""
    folder = os.path.dirname(os.path.realpath(script))
    while all(
        os.path.exists(os.path.join(each, "__init__.py"))
        for each in (folder, os.path.dirname(folder))
    ):
        folder = os.path.dirname(folder)
    return folder


def _above(script):
    """The folders of PYTHONPATH that a script stands below, the nearest first."""
    script = os.path.realpath(script)
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    named = [os.path.realpath(each) for each in paths if each]
    above = {each for each in named if script.startswith(os.path.join(each, ""))}
    return sorted(above - {os.path.realpath(os.sep)}, key=len, reverse=True)


def _places(script):
    """Where Python looks for a module of the user's."""
    folder, package = os.path.dirname(script), _package(script)
    in_package = os.path.exists(os.path.join(package, "__init__.py"))
    places = [folder] + ([os.path.dirname(package)] if in_package else []) + _above(script)
    return list(dict.fromkeys(places))


def describe(decision):
    """One line that says the era and which names decided it."""
    if not decision.decisive:
        return "era: %s, the newest: no name tells one (--era %s)" % (
            decision.era,
            "|".join(map(surfaces.spelled, surfaces.ERAS)),
        )
    line = "era: %s (%s)" % (decision.era, _some(decision.decisive))
    if decision.outvoted:
        line += "; not %s (%s): --era overrides" % (
            "/".join(sorted({each.eras[-1] for each in decision.outvoted})),
            _some(decision.outvoted),
        )
    return line


def parse(path):
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


def _some(names, most=2):
    shown = []
    for each in names:
        if each.name not in [other.name for other in shown]:
            shown.append(each)
    text = ", ".join(
        "%s at %s:%d" % (each.name, os.path.basename(each.path), each.line) for each in shown[:most]
    )
    rest = len(shown) - most
    return text + (", and %d more" % rest if rest > 0 else "")


def _imported_files(tree, path, places, folder):
    """Files below `folder` that the import statements of a file may load."""
    for node in ast.walk(tree):
        bases = places
        if isinstance(node, ast.Import):
            dotted = [name.name for name in node.names]
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                bases = [os.path.normpath(os.path.join(path, *[os.pardir] * node.level))]
            module = node.module or ""
            dotted = [module] + [(module + "." + name.name).strip(".") for name in node.names]
        else:
            continue
        for base in bases:
            for name in dotted:
                yield from _module_files(base, name, folder)


def _module_files(base, dotted, folder):
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
