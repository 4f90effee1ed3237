"""Rules for names that only one generation of TensorFlow has, or that differ between them."""

from __future__ import annotations

import ast
from typing import Any

from tpudist import surfaces
from tpudist.surfaces import changed_names as changed
from tpudist.tools.migrate import generation
from tpudist.tools.migrate.resolution.module import first_name
from tpudist.tools.migrate.rules import keras, rule
from tpudist.tools.migrate.use import Use

_OF_STRATEGIES = ("distribute.", "tpu.")  # they have rules of their own


@rule("first-generation", [("tf", name) for name in surfaces.FIRST_GENERATION])
def first_generation(use: Use) -> None:
    """Names that only TensorFlow 1 has, in a file with names that only TensorFlow 2 has."""
    is_mixed = use.module.path in use.plan.program.mixed
    if is_mixed and not use.evaluator.is_v1(use.module, use.node):
        use.respell("compat.v1." + use.name)


@rule(
    "changed-names",
    [("tf", name) for name in changed.changed_names() if not name.startswith(_OF_STRATEGIES)],
)
def changed_names(use: Use) -> None:
    """Names that TensorFlow 1 and 2 both have, with other arguments or another meaning."""
    path, program = use.module.path, use.plan.program
    if use.call is None:
        return
    positional = sum(1 for each in use.arguments if not each.name and not each.star)
    keywords = [each.name for each in use.arguments if each.name]
    of = changed.generation(use.name, positional, keywords, not use.has_stars)
    if of not in (changed.FIRST, changed.BOTH):
        return
    if program.wants_v1(path) or use.evaluator.is_v1(use.module, use.node):
        name = changed.changed_names()[use.name]
        if not name.kept_in_v1 and not use.has_stars and use.plan.target == "latest":
            now = ", ".join(each for each in name.second if each != "*")
            use.leave("tf.compat.v1 takes other arguments now", "by keyword, of %s" % now)
    elif of == changed.FIRST and path in program.mixed:
        use.respell("compat.v1." + use.name)
    else:
        _leave_undecided(use, "TensorFlow 2 has another one")


def _leave_undecided(use: Use, why: str) -> None:
    """Reports a use of a file that does not show which TensorFlow it is written for."""
    path, program = use.module.path, use.plan.program
    if path in program.mixed or path in program.undecided:
        instead = "# tpudist: tf1 or # tpudist: tf2 on a line of the file"
        use.leave(why, instead, lasts=path not in program.disputed)


@rule("changed-defaults", [("tf", name) for name in surfaces.CHANGED_DEFAULTS])
def changed_defaults(use: Use) -> None:
    """Arguments whose defaults changed: ``recurrent_activation`` of an LSTM, ``reset_after``."""
    if use.call is None:
        return
    keywords = [each.name for each in use.arguments if each.name]
    left_out = changed.defaults_left_out(use.name, len(use.call.args), keywords)
    written = ", ".join("%s=%s" % pair for pair in left_out.items())
    if not use.is_v1():
        if written:
            _leave_undecided(use, "the defaults of TensorFlow 1 are %s" % written)
    elif written and use.plan.target == "latest":
        if use.has_stars:
            use.leave("TensorFlow 1 had other defaults", written)
        elif use.plan.keras == "3" and "recurrent_activation" in left_out:
            instead = written.replace("'hard_sigmoid'", keras.HARD_SIGMOID)
            use.leave("TensorFlow 1 had other defaults", instead)
        else:
            use.edits.insert(use.arguments[-1].end, ", " + written.replace("'", '"'))
            use.note(written)


@rule("frozen-batch-norm", [("tf", generation.BATCH_NORM)])
def frozen_batch_norm(use: Use) -> None:
    """A BatchNormalization whose ``trainable`` is False uses its moving means in TensorFlow 2."""
    if not generation.freezes_batch_norm(use.module.nodes, [use.name]):
        return
    why = "with trainable = False it normalizes by the batch in TensorFlow 1 alone"
    first = use.tensorflow_name(first_name(use.node)) or ""
    if not use.is_v1():
        _leave_undecided(use, why)
    elif use.plan.target == "latest" and (use.plan.keras == "3" or first.startswith("keras")):
        use.leave(why, "training=True where it is called")


_NEW = "compat.dimension_value"


@rule("dimension-values", [("any", "value")])
def dimension_values(use: Use) -> None:
    """``x.shape[0].value`` is ``tf.compat.dimension_value(x.shape[0])``."""
    program, path = use.plan.program, use.module.path
    if path in program.graphs - program.v2_graphs:
        return  # with TensorFlow 1's behavior they have it
    owner = use.node.value  # a dimension is an element of a shape, or one of a loop
    if type(owner) is ast.Subscript:
        is_dimension = type(owner.slice) is not ast.Slice and _is_shape(use, owner.value)
    else:
        loop = _binding(use, owner)
        is_dimension = isinstance(loop, (ast.For, ast.comprehension)) and _is_shape(use, loop.iter)
    if not is_dimension:
        return
    start, end = use.module.outer_span(use.node.value)
    use.edits.wrap(start, end, use.spelled(_NEW) + "(", ")")
    use.edits.remove(end, use.module.span(use.node)[1])
    use.note("tf." + _NEW)


def _is_shape(use: Use, node: Any) -> bool:
    """Whether an expression is the shape of a tensor, or a part of one."""
    if type(node) is ast.Attribute:
        return bool(node.attr == "shape")
    if type(node) is ast.Call:
        return getattr(node.func, "attr", "") == "get_shape" and not node.args
    if type(node) is ast.Subscript:
        return type(node.slice) is ast.Slice and _is_shape(use, node.value)
    assigned = _binding(use, node)
    return type(assigned) is ast.Assign and _is_shape(use, assigned.value)


def _binding(use: Use, node: Any) -> ast.AST | None:
    """The loop or assignment that binds a variable; None if several do."""
    if type(node) is not ast.Name:
        return None
    bindings = use.module.scope(node)[node.id]
    return use.module.parent(bindings[0].node) if len(bindings) == 1 else None


#: {name: the places at which its arguments stood before 1.0, by their places today}.
_ORDER = {"concat": (1, 0), "split": (2, 1, 0)}


@rule("old-order", [("tf", name) for name in _ORDER])
def old_order(use: Use) -> None:
    """Arguments that had another order before 1.0: ``tf.concat(1, [a, b])``."""
    order, arguments = _ORDER[use.name], use.arguments if use.call is not None else []
    first = getattr(arguments[0].value, "operand", arguments[0].value) if arguments else None
    if not isinstance(getattr(first, "value", None), int) or len(arguments) < len(order):
        return
    if use.has_stars or any(each.name for each in arguments[: len(order)]):
        use.leave("its first argument is the dimension, as before 1.0", "axis= and values=")
        return
    for argument, place in zip(arguments, order):
        use.replace(argument.value, use.module.code(arguments[place].value))
    use.note("tf.%s, with the values first" % use.name)
