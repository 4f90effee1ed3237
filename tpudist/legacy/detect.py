"""Which era was a script written for? Read from its source, never run.

The names come from the table (`tpudist.surfaces`). A name that only one era
has decides; if several eras have such names, the newest wins, since code that
was carried forward keeps its old branches. Names that several eras share
decide only where no other does.
"""

import ast
import collections
import os
import warnings

from tpudist import surfaces
from tpudist.errors import ScriptError
from tpudist.legacy import evidence as evidence_lib

Detection = collections.namedtuple("Detection", "era decisive outvoted")
Detection.__doc__ = """An era and the names that told it.

Fields:
  era: an element of ``surfaces.ERAS``.
  decisive: the Evidence for it, in reading order.
  outvoted: the Evidence for other eras.
"""

_FOREIGN = ("site-packages", "dist-packages")


def detect(script):
    """Finds the era of a script.

    Args:
      script: path of the script. The modules beside it that it imports are
        read too; what does not parse among them is left out.

    Returns:
      A Detection.

    Raises:
      ScriptError: the script is not Python 3, or no name tells its era.
    """
    script = os.path.realpath(script)
    found, files = [], [(script, parse(script))]
    seen = {script}
    for path, tree in files:
        found += evidence_lib.collect(tree, path)
        for other in _imported_files(tree, path, os.path.dirname(script)):
            if other not in seen:
                seen.add(other)
                files += _readable(other)
    if not found:
        raise ScriptError(
            "no name in %s tells which TensorFlow it was written for (%d "
            "file(s) read)" % (script, len(files)),
            "the era is found by names such as tf.contrib.distribute.TPUStrategy"
            ", strategy.experimental_run_v2 or strategy.run",
            "--era contrib|2.0|2.2 " + os.path.basename(script),
        )
    return _decide(found)


def describe(detection):
    """One line that says the era and which names decided it."""
    line = "era: %s (%s)" % (detection.era, _some(detection.decisive))
    if detection.outvoted:
        line += "; not %s (%s): --era overrides" % (
            "/".join(sorted({name.eras[-1] for name in detection.outvoted})),
            _some(detection.outvoted),
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


def _readable(path):
    try:
        return [(path, parse(path))]
    except (ScriptError, OSError):
        return []


def _decide(found):
    single = [name for name in found if len(name.eras) == 1]
    era = max((name.eras[-1] for name in single or found), key=surfaces.ERAS.index)
    decisive = [name for name in single or found if era in name.eras]
    return Detection(era, decisive, [name for name in single if era not in name.eras])


def _some(names, most=2):
    shown = []
    for name in names:
        if name.name not in [other.name for other in shown]:
            shown.append(name)
    text = ", ".join(
        "%s at %s:%d" % (name.name, os.path.basename(name.path), name.line) for name in shown[:most]
    )
    rest = len(shown) - most
    return text + (", and %d more" % rest if rest > 0 else "")


def _imported_files(tree, path, folder):
    """Files below `folder` that the import statements of a file may load."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            dotted, base = [name.name for name in node.names], folder
        elif isinstance(node, ast.ImportFrom):
            base = folder
            for _ in range(node.level):
                base = os.path.dirname(path if base is folder else base)
            module = node.module or ""
            dotted = [module] + [(module + "." + name.name).strip(".") for name in node.names]
        else:
            continue
        for name in dotted:
            yield from _module_files(base, name, folder)


def _module_files(base, dotted, folder):
    parts = [part for part in dotted.split(".") if part]
    for end in range(len(parts) + 1):
        stem = os.path.join(base, *parts[:end])
        for path in (stem + ".py", os.path.join(stem, "__init__.py")):
            below = os.path.relpath(path, folder).split(os.sep)
            if os.path.isfile(path) and ".." not in below and (not set(below) & set(_FOREIGN)):
                yield os.path.abspath(path)
