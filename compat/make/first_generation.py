"""Writes the table FIRST_GENERATION: the names that only TensorFlow 1 has.

python -m compat.make.first_generation

They are the keys of the tables of ``tf_upgrade_v2`` that the installed TensorFlow, a
2.16 or newer, no longer has. The tables' source is read, not imported or run.
"""

from __future__ import annotations

import ast
import importlib.util
import pathlib
import sys

from compat.make import tables

_TABLES = (("renames_v2.py", "renames"), ("all_renames_v2.py", "manual_symbol_renames"))
#: Whole modules of TensorFlow 1, which the tables list name by name.
MODULES = frozenset(
    """app distributions flags gfile layers lite.constants logging manip nn.rnn_cell python_io
    resource_loader saved_model.builder saved_model.constants saved_model.loader
    saved_model.main_op saved_model.signature_constants saved_model.signature_def_utils
    saved_model.tag_constants saved_model.utils spectral train.queue_runner user_ops""".split()
)
#: What tells no generation: releases of TensorFlow 2 had these too, or Keras is asked.
EXCEPT = ("contrib", "estimator", "keras", "mixed_precision", "train.experimental", "test.mock") + (
    "executing_eagerly_outside_functions",
    "losses.mean_squared_error",  # to 2.15 tf.losses and tf.metrics were those of Keras
    "metrics.mean_absolute_error",
    "metrics.mean_squared_error",
    "tpu.PaddingSpec",
    "tpu.experimental",
)


def names() -> set[str]:
    """The dotted names, by the TensorFlow that is installed."""
    import tensorflow as tf

    return {name for name in keys() if not is_there(tf, name)} | MODULES


def keys() -> set[str]:
    """The names below ``tf`` that ``tf_upgrade_v2`` renames and that may tell a generation."""
    spec = importlib.util.find_spec("tensorflow")
    assert spec is not None and spec.origin is not None
    folder = pathlib.Path(spec.origin).parent / "tools" / "compatibility"
    found = {name for file, table in _TABLES for name in _keys(folder / file, table)}
    every = {name.partition(".")[2] for name in found}
    return {name for name in every if not (below(name, EXCEPT) or below(name, MODULES))}


def _keys(path: pathlib.Path, table: str) -> set[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == table:
            return set(ast.literal_eval(node.value))
    raise LookupError("%s has no %s" % (path, table))


def below(name: str, prefixes: object) -> bool:
    """Whether a dotted name is one of some, or below one."""
    parts = name.split(".")
    found = {".".join(parts[:end]) for end in range(1, len(parts) + 1)}
    return bool(found.intersection(prefixes))  # type: ignore[call-overload]


def is_there(module: object, name: str) -> bool:
    """Whether a dotted name is an attribute of an object."""
    for word in name.split("."):
        if not hasattr(module, word):
            return False
        module = getattr(module, word)
    return True


def main() -> int:
    """Writes the table; returns 0."""
    tables.write("FIRST_GENERATION", tables.of_modules(names()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
