"""Makes programs with names of Keras run by Keras 2, which the package tf_keras has.

``tf.keras`` is Keras 3 since TensorFlow 2.16, with other numbers, arguments and members, and
without graphs, ``tf.layers`` and the cells of ``tf.nn``. One line, before TensorFlow is imported in
the file that a program starts with, brings Keras 2 back in all its files. ``import tf_keras`` in
each of them would be a longer change, and bring back neither ``tf.layers`` nor the Keras of
``tf.compat.v1``.
"""

from __future__ import annotations

import ast
import re

from tpudist.tools.migrate import imports
from tpudist.tools.migrate.use import Plan

RULE = "keras-2"
#: The rules that only a program for Keras 3 needs.
OF_KERAS_3 = ("keras-arguments", "keras-losses", "keras-tensors")
_IN_GRAPHS = re.compile(r"keras\.(layers|models|Model|Sequential|Input|backend|applications)\b")
_LINES = ("import os", 'os.environ["TF_USE_LEGACY_KERAS"] = "1"  # Keras 2: pip install tf_keras')


def leave_graph(plan: Plan) -> None:
    """Reports, once in a file of TensorFlow 1, that Keras 3 has no graphs."""
    module, evaluator = plan.module, plan.evaluator
    for call in module.of(ast.Call) if evaluator.has_v1(module) else ():
        if _IN_GRAPHS.match(evaluator.tensorflow_name(module, call.func) or ""):
            why = "Keras 3 builds nothing in the graph of a Session"
            plan.leave(call, RULE, module.code(call.func), "--keras 2", why)
            return


def plan_line(plan: Plan) -> None:
    """Adds the line to the file that a program starts with, before its imports are planned."""
    plan.done(imports.put_first(plan, _LINES), RULE, "", _LINES[-1])
