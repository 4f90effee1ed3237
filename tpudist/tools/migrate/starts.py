"""Gives the file that a program starts with TensorFlow 1's behavior, and Keras 2.

``tf.disable_v2_behavior()`` after its import makes a program one of TensorFlow 1. ``tf.keras`` is
Keras 3 since TensorFlow 2.16; one line before TensorFlow is imported brings Keras 2 back in all
files of a program.
"""

from __future__ import annotations

import ast
import re
from typing import Any, Iterator

from tpudist.tools.migrate import imports
from tpudist.tools.migrate.resolution import tensorflow_names
from tpudist.tools.migrate.resolution.module import Module, imported
from tpudist.tools.migrate.rules import IMPORTS
from tpudist.tools.migrate.use import Plan

SESSIONS, KERAS = "sessions", "keras-2"
_CALL = "disable_v2_behavior()"
#: The rules that only a program for Keras 3 needs.
OF_KERAS_3 = ("keras-losses", "keras-tensors")
_IN_GRAPHS = re.compile(r"keras\.(layers|models|Model|Sequential|Input|backend|applications)\b")
LINES = ("import os", 'os.environ["TF_USE_LEGACY_KERAS"] = "1"  # Keras 2: pip install tf_keras')


def plan_call(plan: Plan, is_v1: bool, home: str) -> None:
    """Adds the call to the first file of a program, whose imports are planned."""
    module = plan.module
    name, statement = plan.tensorflow_at(module.tree)
    places = [(statement, name)] if name else list(_imports(module))
    if not places:
        lines = [imports.statement(home, "tf"), "tf." + _CALL]
        plan.done(imports.put_first(plan, lines), SESSIONS, "", "; ".join(lines))
        return
    statement, name = places[0]
    seen = module.code(statement).split("\n")[-1]
    if len(places) > 1:
        why = "a program of TensorFlow 1 starts here, and imports it in several functions"
        plan.leave(statement, SESSIONS, seen, "tf.compat.v1.%s after the first" % _CALL, why, False)
        return
    is_v1 = is_v1 and not plan.ignores(statement, IMPORTS)
    call = "%s.%s%s" % (name, "" if is_v1 else "compat.v1.", _CALL)
    imports.put_behind(plan, statement, [call])
    plan.done(statement, SESSIONS, seen, call)


def _imports(module: Module) -> Iterator[tuple[Any, str]]:
    """Yields (import statement, name) of each that binds ``tf``, wherever it stands."""
    for node in module.imports:
        for full, bound in imported(node):
            if tensorflow_names.below_tensorflow(full) == "":
                yield node, bound


def leave_graph(plan: Plan) -> None:
    """Reports, once in a file of TensorFlow 1, that Keras 3 has no graphs."""
    module, evaluator = plan.module, plan.evaluator
    for call in module.of(ast.Call) if evaluator.has_v1(module) else ():
        if _IN_GRAPHS.match(evaluator.tensorflow_name(module, call.func) or ""):
            why = "Keras 3 builds nothing in the graph of a Session"
            plan.leave(call, KERAS, module.code(call.func), "--keras 2", why)
            return
