"""Where a program uses Keras, TensorFlow's or a package of its own."""

import ast
import collections
import os

from tpudist.eras import evidence, program
from tpudist.surfaces import keras_modules

Uses = collections.namedtuple("Uses", "tensorflows own")
Uses.__doc__ = """Where a program first names Keras, as "train.py:3"; None where it does not.

Fields:
  tensorflows: ``tf.keras`` and what TensorFlow's other names take from it.
  own: an import of the package ``keras`` that the program does without a try.
"""


def find(script):
    """The `Uses` of a script and of the modules beside it that it imports.

    Raises:
      ScriptError: the script is not Python 3.
    """
    folder = os.path.dirname(os.path.realpath(script))
    beside = any(os.path.exists(os.path.join(folder, name)) for name in ("keras", "keras.py"))
    uses = {"tensorflows": None, "own": None}
    for path, tree in program.files(script):
        found = {"tensorflows": _of_tensorflow(tree), "own": [] if beside else _own(tree)}
        for kind, lines in found.items():
            first = min(lines, default=None)
            if first is not None and uses[kind] is None:
                uses[kind] = "%s:%d" % (os.path.basename(path), first)
    return Uses(**uses)


def _of_tensorflow(tree):
    return [
        line
        for dotted, line in evidence.names_below_tensorflow(tree)
        if any((dotted + ".").startswith(name + ".") for name in keras_modules.USED)
    ]


def _own(tree):
    tried = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.Try)
        for statement in node.body
        for inner in ast.walk(statement)
    }
    return [
        node.lineno
        for node in ast.walk(tree)
        if id(node) not in tried and any(name.split(".")[0] == "keras" for name in _imported(node))
    ]


def _imported(node):
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
