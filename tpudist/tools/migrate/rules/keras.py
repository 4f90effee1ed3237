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
    **dict.fromkeys(
        (each[6:] for each in surfaces.KERAS_3_PLACES if each[:6] == "model."), ["model"]
    ),
    **dict.fromkeys(("add_loss", "add_variable", "adapt"), ["layer", "model"]),
    "add_weight": ["layer", "metric", "model"],
    **dict.fromkeys(("apply_gradients",), ["keras_optimizer"]),
}


def uses(plan: Plan, table: Mapping[tuple[str, str], Rule]) -> Iterator[tuple[str, str, Any, Rule]]:
    """Yields (kind, name, node, Rule) of each call of a name of Keras or TensorFlow."""
    if plan.keras == "3" and KEY in table and plan.module.path in plan.program.keras:
        for call in plan.module.of(ast.Call):
            values = plan.evaluator.values(plan.module, call.func)
            dotted = tensorflow_names.only(values)
            if ("is", "loss") in values and LOSS in table:
                yield (*LOSS, call.func, table[LOSS])
            if dotted and TENSORS in table and plan.evaluator.is_symbolic(plan.module, call):
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
    return node.attr in surfaces.KERAS_ALONE or is_asked and bool(keywords & surfaces.KERAS_ALONE)


_RENAMED = {("keras_optimizer", "lr"): "learning_rate", ("metric", "reset_states"): "reset_state"}


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
        workers = use.argument(-1, "workers") if use.call is not None else None
        if workers is not None and use.code(workers.value) == "0":
            use.replace(workers.value, "1")  # Keras of today refuses 0
            use.note("workers=1")
    elif use.name == "variables":
        if use.call is not None:
            use.edits.remove(use.module.span(use.node)[1], use.module.span(use.call)[1])
            use.note("variables")
    elif (use.kind, use.name) in _RENAMED:
        use.rename(_RENAMED[use.kind, use.name])
    else:
        rows = surfaces.KERAS_MEMBERS
        instead = rows.get((use.kind, use.name)) or rows["layer", use.name]
        use.leave("Keras %s has it no longer" % use.plan.keras, instead)


_NAMES = (*surfaces.KERAS_OPTIMIZERS, *surfaces.KERAS_REFUSES, _OPTIMIZERS + "Optimizer")


@rule("keras-optimizers", [*(("tf", name) for name in _NAMES), ("model", "compile")])
def keras_optimizers(use: Use) -> None:
    """Optimizers that compute or take something else since 2.11: ``RMSprop``, ``lr``, ``decay``."""
    if use.name == "compile":
        _of_compile(use)
        return
    if use.name in surfaces.KERAS_REFUSES:
        if use.plan.keras == "3":
            use.leave("Keras 3 refuses to make one", surfaces.KERAS_REFUSES[use.name])
        return
    rate = use.argument(-1, "lr") if use.call is not None else None
    if rate is not None:
        use.rename_keyword(rate, "learning_rate")
        use.note("learning_rate=")
    if _is_legacy(use):
        new = use.name.replace("optimizers.", "optimizers.legacy.")
        if use.plan.keras == "3":
            is_of_rows = use.name.rpartition(".")[2].lower() not in _CHANGED
            use.leave(_OTHERWISE % (_ON_ROWS * is_of_rows), "--keras 2")
        elif type(use.node) is ast.Name:
            use.replace(use.node, use.spelled(new))
            use.note("tf." + new)
        else:
            use.respell(new)
    if use.call is None:
        return
    if "apply_gradients" in use.module.calls_by_name and use.argument(-1, "clipnorm", "clipvalue"):
        use.leave("apply_gradients of TensorFlow 2.2 did not clip", "it without the argument")
    if use.argument(-1, "decay") is not None and use.plan.keras == "3":
        use.leave(
            "no optimizer of Keras 3 takes decay",
            "learning_rate=tf.keras.optimizers.schedules.InverseTimeDecay(learning_rate, 1, decay)",
        )


#: Optimizers that always compute something else since TensorFlow 2.11; others for rows alone.
_CHANGED = {"nadam": "Nadam", "rmsprop": "RMSprop"}
_OTHERWISE = "since TensorFlow 2.11 it computes something else%s"
_ON_ROWS = " for the rows of a table, as an Embedding has"


def _of_compile(use: Use) -> None:
    """Looks at the optimizer of a model, which may be named by a string."""
    optimizer = use.argument(0, "optimizer") if use.call is not None else None
    name = walks.text(optimizer.value) if optimizer is not None else None
    is_of_rows = use.plan.keras == "3" and use.module.path in use.plan.program.sparse
    if optimizer is not None and name and is_of_rows and name.lower() != "sgd":
        use.leave(_OTHERWISE % _ON_ROWS, "--keras 2")
    elif optimizer is not None and (name or "").lower() in _CHANGED:
        if use.plan.keras == "2":
            new = use.spelled("keras.optimizers.legacy." + _CHANGED[(name or "").lower()]) + "()"
            use.replace(optimizer.value, new)
            use.note(new)
        else:
            use.leave(_OTHERWISE % "", "--keras 2")
    if use.plan.keras == "3":
        keras_arguments(use)


def _is_legacy(use: Use) -> bool:
    """Whether a program needs an optimizer of before TensorFlow 2.11, which Keras 2 has as well."""
    parent, module, name = use.module.parent(use.node), use.module, use.name.rpartition(".")[2]
    if type(parent) is ast.ClassDef:
        of_class = {getattr(each, "name", "") for each in parent.body}
        return use.plan.keras == "2" and not of_class.isdisjoint(surfaces.KERAS_2_OPTIMIZER)
    if use.call is None:
        return False
    is_of_rows = use.argument(1, "momentum") is not None if name == "SGD" else True
    if use.plan.keras == "2":  # the others of Keras 2 take rows as they did
        is_of_rows = is_of_rows and name in ("Adamax", "Ftrl", "SGD")
    if name.lower() in _CHANGED or is_of_rows and module.path in use.plan.program.sparse:
        return True
    if use.plan.keras == "3":
        return False
    made = module.parent(use.call)
    names = {last_word(each) for each in made.targets} if type(made) is ast.Assign else set()
    return use.argument(-1, "decay") is not None or any(
        each.attr in surfaces.KERAS_2_OPTIMIZER and last_word(each.value) in names
        for each in module.of(ast.Attribute)
    )


@rule("keras-tensors", [TENSORS])
def keras_tensors(use: Use) -> None:
    """Reports ops of TensorFlow on a layer's output, which in Keras 3 is a KerasTensor."""
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
_OF_METHODS = [(k, name) for name, kinds in _METHODS.items() for k in kinds if name != "compile"]


@rule("keras-arguments", [KEY, *_OF_METHODS])
def keras_arguments(use: Use) -> None:
    """Arguments that Keras 3 refuses or takes otherwise: ``fit(workers=)``, ``add_weight("w")``."""
    if use.call is None:
        return
    if use.kind != KEY[0]:
        if use.plan.keras == "3":
            _of_method(use)
        if use.name in ("fit", "evaluate", "predict"):
            passed = [each for each in (use.argument(0, "x"), use.argument(1, "y")) if each]
            lists = [each for each in passed if _is_of_numbers(_assigned(use, each.value))]
            # Keras 2 takes two lists, but not one.
            for argument in lists if use.plan.keras == "3" or len(lists) < len(passed) else ():
                _make_tensor(use, argument)
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
    _name_places(use, surfaces.KERAS_3_PLACES.get("%s.%s" % (use.kind, use.name), ""))
    if use.name == "compile":
        optimizer = use.argument(0, "optimizer")
        if optimizer and ("is", "optimizer") in use.evaluator.values(use.module, optimizer.value):
            use.leave("Keras 3 takes no optimizer of tf.train", _OPTIMIZERS_OF_1)
    elif use.name == "add_loss":
        if use.evaluator.is_symbolic(use.module, use.call):
            use.leave("Keras 3 takes none of a model's tensors", "self.add_loss in call of a layer")
    elif use.name in ("add_variable", "add_weight"):
        first = use.argument(0)
        is_named = first is not None and walks.text(first.value) is not None
        if is_named and use.kind != "metric":
            use.leave("Keras 3 takes the name by keyword", "add_weight(name=..., shape=...)")
        _leave_name(use)
    elif use.name in ("save", "save_weights"):
        ends = _SAVED if use.name == "save" else (".weights.h5",)
        _leave_path(use, use.argument(0, "filepath"), ends)


_SAVED = (".keras", ".h5", ".hdf5")


@rule("keras-losses", [LOSS])
def keras_losses(use: Use) -> None:
    """Makes tensors of lists that losses are called on: Keras 3 takes each element for one."""
    for argument in use.arguments[:2]:
        _make_tensor(use, argument)


def _make_tensor(use: Use, argument: Argument) -> None:
    """Puts ``tf.constant`` around a list of numbers, or a variable that is one."""
    if _is_of_numbers(_assigned(use, argument.value)):
        start, end = use.module.outer_span(argument.value)
        use.edits.wrap(start, end, use.spelled("constant") + "(", ")")
        use.note("tf.constant")


def _assigned(use: Use, node: Any) -> ast.expr:
    """The value of a variable that is assigned once, or an expression itself."""
    bindings = use.module.scope(node)[node.id] if type(node) is ast.Name else []
    assigned = use.module.assign(bindings[0]) if len(bindings) == 1 else None
    return node if assigned is None else assigned.value


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
    end = _end(_assigned(use, path.value)) if path is not None else None
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
