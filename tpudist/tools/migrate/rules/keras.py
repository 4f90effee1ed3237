"""Rules for Keras 3, which does not take all that Keras 2 took, nor mean the same by all of it."""

from __future__ import annotations

import ast
from typing import Any, Iterable, Iterator, Mapping

from tpudist import surfaces
from tpudist.surfaces import changed_names as changed
from tpudist.surfaces.eras import walks
from tpudist.surfaces.eras.walks import last_word
from tpudist.tools.migrate.resolution import tensorflow_names
from tpudist.tools.migrate.resolution.fixed_point import UNKNOWN, Values
from tpudist.tools.migrate.resolution.module import Argument
from tpudist.tools.migrate.rules import Rule, gone_names, rule
from tpudist.tools.migrate.use import Plan, Use

#: What the rules are asked about: each call of a name of TensorFlow.
KEY, TENSORS, LOSS = ("call", "*"), ("call", "tensors"), ("call", "loss")
_LAYERS, _OPTIMIZERS = "keras.layers.", "keras.optimizers."
#: What Keras 3 calls hard_sigmoid is another function than that of Keras 2.
HARD_SIGMOID = "lambda x: tf.clip_by_value(0.2 * x + 0.5, 0.0, 1.0)"
#: {method with arguments that Keras 3 does not take: the kinds of objects that have it}.
_METHODS = {
    **dict.fromkeys((each[1:] for each in surfaces.KERAS_ARGUMENTS if each[0] == "."), ["model"]),
    **dict.fromkeys(("add_loss", "add_variable", "add_weight", "adapt"), ["layer", "model"]),
    **dict.fromkeys(("apply_gradients",), ["keras_optimizer"]),
}
#: Members and arguments that nothing but Keras has: they are told of objects that are not known.
ALONE = frozenset(
    """evaluate_generator fit_generator get_input_at get_input_shape_at get_losses_for get_output_at
    get_output_shape_at get_updates_for predict_classes predict_generator""".split()
)
_ARGUMENTS_ALONE = frozenset(
    """experimental_aggregate_gradients experimental_run_tf_function target_tensors
    experimental_steps_per_execution sample_weight_mode use_multiprocessing""".split()
)


def uses(plan: Plan, table: Mapping[tuple[str, str], Rule]) -> Iterator[tuple[str, str, Any, Rule]]:
    """Yields (kind, name, node, Rule) of each call of a name of Keras or TensorFlow."""
    if KEY in table and plan.module.path in plan.program.keras:
        for call in plan.module.of(ast.Call):
            values = plan.evaluator.values(plan.module, call.func)
            dotted = tensorflow_names.only(values)
            if ("is", "loss") in values:
                yield (*LOSS, call.func, table[LOSS])
            if dotted and plan.evaluator.is_symbolic(plan.module, call):
                yield (*TENSORS, call.func, table[TENSORS])
            if dotted:
                yield (*KEY, call.func, table[KEY])


def of_unknown(plan: Plan, node: Any, values: Values) -> bool:
    """Whether a member of an object that is not known is one that nothing but Keras has."""
    if values and not values >= UNKNOWN or type(node.ctx) is not ast.Load:
        return False
    is_asked = node.attr in _METHODS and plan.module.path in plan.program.keras
    call = plan.module.parent(node)
    keywords = {each.arg for each in getattr(call, "keywords", ())}
    return node.attr in ALONE or is_asked and bool(keywords & _ARGUMENTS_ALONE)


def _members() -> Iterator[tuple[str, str]]:
    for kind, name in surfaces.KERAS_MEMBERS:
        yield kind, name
        if kind == "layer" and name not in ("input_shape", "output_shape"):
            yield "model", name
    yield "keras_optimizer", "variables"


@rule("keras-members", _members())
def keras_members(use: Use) -> None:
    """Members that Keras 3 has not: ``fit_generator``, ``predict_classes``, ``get_weights``, ..."""
    if use.plan.keras == "2" and use.name not in surfaces.KERAS_2_MEMBERS:
        return
    if use.name == "variables":
        if use.call is not None:
            use.edits.remove(use.module.span(use.node)[1], use.module.span(use.call)[1])
            use.note("variables")
    elif use.name == "lr":
        use.rename("learning_rate")
    else:
        kinds = [use.kind, "layer", "model", "metric", "keras_optimizer"]
        keys = [(kind, use.name) for kind in kinds if (kind, use.name) in surfaces.KERAS_MEMBERS]
        use.leave("Keras %s has it no longer" % use.plan.keras, surfaces.KERAS_MEMBERS[keys[0]])


@rule(
    "keras-optimizers",
    [
        ("tf", name)
        for name in (*surfaces.KERAS_OPTIMIZERS, *surfaces.KERAS_REFUSES, _OPTIMIZERS + "Optimizer")
    ],
)
def keras_optimizers(use: Use) -> None:
    """Optimizers, and arguments of them, that Keras 3 does not take: ``legacy.Adam``, ``decay``."""
    if use.name in surfaces.KERAS_REFUSES:
        if use.plan.keras == "3":
            use.leave("Keras 3 refuses to make one", surfaces.KERAS_REFUSES[use.name])
        return
    if use.plan.keras == "2":
        if _is_legacy(use):
            use.respell(use.name.replace("optimizers.", "optimizers.legacy."))
        return
    if use.call is None:
        return
    decay = use.argument(-1, "decay")
    rate = use.argument(-1, "lr")
    if rate is not None:
        use.rename_keyword(rate, "learning_rate")
        use.note("learning_rate=")
    if decay is not None:
        use.leave(
            "no optimizer of Keras 3 takes decay",
            "learning_rate=tf.keras.optimizers.schedules.InverseTimeDecay(learning_rate, 1, decay)",
        )


def _is_legacy(use: Use) -> bool:
    """Whether a program needs an optimizer of before TensorFlow 2.11, which Keras 2 has as well."""
    parent, module = use.module.parent(use.node), use.module
    if type(parent) is ast.ClassDef:
        return any(getattr(each, "name", "") in surfaces.KERAS_2_OPTIMIZER for each in parent.body)
    if use.call is None:
        return False
    made = module.parent(use.call)
    names = {last_word(each) for each in made.targets} if type(made) is ast.Assign else set()
    return use.argument(-1, "decay") is not None or any(
        each.attr in surfaces.KERAS_2_OPTIMIZER and last_word(each.value) in names
        for each in module.of(ast.Attribute)
    )


@rule("keras-tensors", [TENSORS])
def keras_tensors(use: Use) -> None:
    """Ops of TensorFlow on the output of a layer, which is no tensor of TensorFlow in Keras 3."""
    dotted = use.tensorflow_name(use.node) or ""
    if dotted.startswith("keras.") and not dotted.startswith("keras.backend."):
        return
    if dotted in ("keras.backend.int_shape", "keras.backend.is_keras_tensor"):
        return
    use.leave(
        "the output of a layer is no tensor of TensorFlow in Keras 3",
        "tf.keras.layers.Lambda(lambda x: %s(x, ...))(output)" % use.code(),
    )


_OPTIMIZERS_OF_1 = (
    "tf.keras.optimizers.Adam(rate, epsilon=1e-8) for AdamOptimizer, SGD for "
    "GradientDescentOptimizer and MomentumOptimizer; others compute something else; --keras 2 "
    "takes it as it is"
)
_OF_METHODS = [(kind, name) for name, kinds in _METHODS.items() for kind in kinds]


@rule("keras-arguments", [KEY, *_OF_METHODS])
def keras_arguments(use: Use) -> None:
    """Arguments that Keras 3 refuses or takes otherwise: ``fit(workers=)``, ``add_weight("w")``."""
    if use.call is None:
        return
    if use.kind != KEY[0]:
        _of_method(use)
        return
    dotted = use.tensorflow_name(use.node) or ""
    if dotted.startswith("initializers.") and not gone_names.is_v1(use):
        dotted = "keras." + dotted  # they are Keras's in TensorFlow 2
    if dotted.startswith("keras."):
        _of_class(use, dotted.replace("keras.optimizers.legacy.", _OPTIMIZERS))


def _of_class(use: Use, dotted: str) -> None:
    refused = dict(surfaces.KERAS_ARGUMENTS.get(dotted, {}))
    if dotted.startswith(_LAYERS) and dotted != _LAYERS + "InputLayer":
        refused.update(surfaces.KERAS_LAYERS)
        if dotted != _LAYERS + "Embedding":
            refused.update(surfaces.KERAS_WEIGHTS)
    _leave_refused(use, refused)
    for old, new in surfaces.KERAS_RENAMED.get(dotted, {}).items():
        argument = use.argument(-1, old)
        if argument is not None:
            use.rename_keyword(argument, new)
            use.note(new + "=")
    _name_places(use, surfaces.KERAS_3_PLACES.get(dotted, ""))
    _write_defaults(use, dotted)
    _leave_name(use)
    if dotted == "keras.callbacks.ModelCheckpoint":
        weights = use.argument(3, "save_weights_only")
        word = use.code(weights.value) if weights is not None else "False"
        ends = {"False": (".keras", ".h5"), "True": (".weights.h5",)}.get(word, ("",))
        _leave_path(use, use.argument(0, "filepath"), ends)
    elif dotted == "keras.models.save_model":
        _leave_path(use, use.argument(1, "filepath"), _SAVED)
    elif dotted == "keras.backend.set_value":
        variable = use.argument(0, "x")
        if variable is not None and last_word(variable.value) in ("lr", "learning_rate"):
            use.leave("it takes no variable of Keras 3", "optimizer.learning_rate = value")


def _name_places(use: Use, row: str) -> None:
    """Writes keywords for positional arguments that Keras 3 has at other places."""
    first, *names = row.split() or ["0"]
    positional = [each for each in use.arguments if not each.name]
    if use.has_stars or not row:
        return
    for argument, name in zip(positional[int(first) :], names):
        use.edits.insert(argument.start, name + "=")
        use.note(name + "=")


def _write_defaults(use: Use, dotted: str) -> None:
    """Writes out the defaults that Keras 3 changed; ``hard_sigmoid`` is another function there."""
    keywords = [each.name for each in use.arguments if each.name]
    count = len(use.call.args)
    left_out = changed.defaults_left_out(dotted, count, keywords, "KERAS_3_DEFAULTS")
    written = ", ".join("%s=%s" % pair for pair in left_out.items()).replace("'", '"')
    names_hard_sigmoid = any(walks.text(each.value) == "hard_sigmoid" for each in use.arguments)
    if names_hard_sigmoid or dotted.endswith(".hard_sigmoid") or "hard_sigmoid" in written:
        use.leave("hard_sigmoid is another function in Keras 3", HARD_SIGMOID)
    elif written and use.has_stars:
        use.leave("Keras 2 had other defaults", written)
    elif written:
        end = use.module.span(use.call)[1] - 1
        place = use.arguments[-1].end if use.arguments else end
        use.edits.insert(place, ", " * bool(use.arguments) + written)
        use.note(written)


def _of_method(use: Use) -> None:
    _leave_refused(use, surfaces.KERAS_ARGUMENTS.get("." + use.name, {}))
    if use.name == "compile":
        optimizer = use.argument(0, "optimizer")
        if optimizer and ("is", "optimizer") in use.evaluator.values(use.module, optimizer.value):
            use.leave("Keras 3 takes no optimizer of tf.train", _OPTIMIZERS_OF_1)
    elif use.name == "add_loss":
        if use.evaluator.is_symbolic(use.module, use.call):
            use.leave("Keras 3 takes none of a model's tensors", "self.add_loss in call of a layer")
    elif use.name in ("add_variable", "add_weight"):
        first = use.argument(0)
        if first is not None and walks.text(first.value) is not None:
            use.leave("Keras 3 takes the name by keyword", "add_weight(name=..., shape=...)")
        _leave_name(use)
    elif use.name == "save_weights":
        _leave_path(use, use.argument(0, "filepath"), (".weights.h5",))
    elif use.name == "save":
        _leave_path(use, use.argument(0, "filepath"), _SAVED)
    elif use.name == "apply_gradients":
        _leave_refused(use, {"name": "nothing: leave it out"})
    elif use.name in ("fit", "evaluate", "predict"):
        for argument in filter(None, (use.argument(0, "x"), use.argument(1, "y"))):
            _make_tensor(use, argument)


_SAVED = (".keras", ".h5", ".hdf5")


@rule("keras-losses", [LOSS])
def keras_losses(use: Use) -> None:
    """Losses that are called on lists, of which Keras 3 takes each element for a tensor."""
    for argument in use.arguments[:2]:
        _make_tensor(use, argument)


def _make_tensor(use: Use, argument: Argument) -> None:
    """Puts ``tf.constant`` around a list of numbers, or a variable that is one."""
    value = argument.value
    if type(value) is ast.Name:
        bindings = use.module.scope(value)[value.id]
        assigned = use.module.assign(bindings[0]) if len(bindings) == 1 else None
        value = assigned.value if assigned is not None else value
    if _is_of_numbers(value):
        start, end = use.module.outer_span(argument.value)
        use.edits.wrap(start, end, use.spelled("constant") + "(", ")")
        use.note("tf.constant")


def _is_of_numbers(node: Any) -> bool:
    """Whether an expression is a list of numbers, or of such lists."""
    if type(node) not in (ast.List, ast.Tuple) or not node.elts:
        return False
    leaves = [getattr(each, "operand", each) for each in node.elts]
    is_flat = all(type(getattr(each, "value", None)) in (int, float, bool) for each in leaves)
    return is_flat or all(map(_is_of_numbers, node.elts))


def _leave_name(use: Use) -> None:
    name = use.argument(-1, "name")
    if name is not None and "/" in (walks.text(name.value) or ""):
        use.leave('Keras 3 takes no name with "/"', "another letter in its place")


def _leave_refused(use: Use, refused: dict[str, str]) -> None:
    for each in use.arguments if use.call else ():
        word = each.name
        for key in (word, "%s=%s" % (word, use.code(each.value))) if word else ():
            key = key.replace('"', "'")
            if key in refused:
                use.leave("Keras 3 does not take %s" % key, refused[key])


def _leave_path(use: Use, path: Argument | None, ends: Iterable[str]) -> None:
    """Reports a call whose path ends, as far as it is written out, in none of `ends`."""
    end = _end(path.value) if path is not None else None
    if end is not None and not end.endswith(tuple(ends)):
        use.leave("Keras 3 takes no such path", "a path that ends in " + " or ".join(ends))


def _end(node: Any) -> str | None:
    """The text that an expression ends with, None if it is not written out."""
    if type(node) is ast.JoinedStr and node.values:
        return _end(node.values[-1])
    if type(node) is ast.BinOp and type(node.op) is ast.Add:
        return _end(node.right)
    if type(node) is ast.Call and last_word(node.func) == "join" and node.args:
        return _end(node.args[-1])
    return walks.text(node)
