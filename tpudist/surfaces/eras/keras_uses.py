"""Where a program uses Keras, TensorFlow's or a package of its own."""

from __future__ import annotations

import ast
import collections
import os
from typing import TYPE_CHECKING

from tpudist.surfaces import keras_modules
from tpudist.surfaces.eras import evidence

if TYPE_CHECKING:
    from typing import Any


Uses = collections.namedtuple("Uses", "tensorflows own")
Uses.__doc__ = """Where a program first names Keras, as "train.py:3"; None where it does not.

Fields:
  tensorflows: ``tf.keras`` and what TensorFlow's other names take from it.
  own: an import of the package ``keras`` that the program does without a try.
"""


def of_file(tree: Any, path: Any, folder: str) -> Any:
    """The `Uses` of a file of a program.

    Args:
      tree: its syntax tree.
      path: its path.
      folder: the script's folder, where a module called keras would be the user's own.
    """
    place = os.path.basename(path)
    beside = any(os.path.exists(os.path.join(folder, name)) for name in ("keras", "keras.py"))
    every = _of_tensorflow(tree), [] if beside else _own(tree)
    return Uses(*["%s:%d" % (place, min(lines)) if lines else None for lines in every])


def first(of_files: Any) -> Any:
    """The `Uses` of a program.

    Args:
      of_files: those of its files.
    """
    columns: Any = list(zip(*of_files)) or [[]] * 2
    return Uses(*[next(filter(None, every), None) for every in columns])


def _of_tensorflow(tree: Any) -> list[Any]:
    return [
        line
        for dotted, line in evidence.names_below_tensorflow(tree)
        if any((dotted + ".").startswith(name + ".") for name in keras_modules.USED)
    ]


def _own(tree: Any) -> list[Any]:
    tried = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.Try)
        for statement in node.body
        for inner in ast.walk(statement)
    }
    return [
        node.lineno  # type: ignore[attr-defined]
        for node in ast.walk(tree)
        if id(node) not in tried and any(name.split(".")[0] == "keras" for name in _imported(node))
    ]


def _imported(node: Any) -> Any:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
