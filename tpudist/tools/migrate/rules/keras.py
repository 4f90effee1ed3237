"""Rules for Keras 3, which does not take all that Keras 2 took."""

from __future__ import annotations

import ast
import collections
import re
from typing import Any, Iterable, Iterator, Mapping

from tpudist import surfaces
from tpudist.surfaces.eras import walks
from tpudist.surfaces.eras.walks import last_word
from tpudist.tools.migrate.resolution.module import Argument
from tpudist.tools.migrate.rules import Rule, gone_names, rule
from tpudist.tools.migrate.use import Plan, Use

#: {(kind, name)} of the rule that is asked.
KEY = ("call", "*")
#: {last word of a class or method: keywords that Keras 3 refuses}.
_KEYWORDS: dict[str, set[str]] = collections.defaultdict(set, apply_gradients={"name"})
for _table in (surfaces.KERAS_ARGUMENTS, surfaces.KERAS_RENAMED):
    for _name, _words in _table.items():
        _KEYWORDS[_name.rpartition(".")[2]].update(each.partition("=")[0] for each in _words)
_OF_LAYERS = {*surfaces.KERAS_LAYERS, *surfaces.KERAS_WEIGHTS}
#: Methods and classes of Keras that Keras 3 takes other arguments of, whatever their words are.
_CALLS = frozenset(
    [
        "add_variable",
        "add_weight",
        "compile",
        "minimize",
        "ModelCheckpoint",
        "save",
        "save_weights",
        "set_value",
    ]
)
_OPTIMIZER = re.compile("optimizer$|^opt$")


def uses(plan: Plan, table: Mapping[tuple[str, str], Rule]) -> Iterator[tuple[str, str, Any, Rule]]:
    """The calls of a file that may have such an argument, and each ``optimizer.lr``.

    Yields (kind, name, node, Rule) of each.
    """
    rule = table.get(KEY)
    if rule is None or "keras" not in plan.module.text:
        return
    for call in plan.module.of(ast.Call):
        name = last_word(call.func)
        refused = _KEYWORDS.get(name, set()) | (_OF_LAYERS if name[:1].isupper() else set())
        if name in _CALLS or any(each.arg in refused for each in call.keywords):
            yield "call", name, call.func, rule
    for node in plan.module.of(ast.Attribute):
        if node.attr == "lr" and _OPTIMIZER.search(last_word(node.value)):
            yield "call", "lr", node, rule
        elif node.attr in surfaces.KERAS_SHAPES and last_word(node.value) != "self":
            yield "call", node.attr, node, rule


def of_member(plan: Plan, node: Any, rule: Rule) -> Iterator[tuple[str, str, Any, Rule]]:
    """Yields a method that a rule asks for on any object, unless it is the program's own."""
    name, parent = node.attr, plan.module.parent(node)
    if name == "compile" and all(
        each.arg != "distribute" for each in getattr(parent, "keywords", ())
    ):
        return
    values = plan.evaluator.values(plan.module, node)
    is_own = bool(values) and all(value[0] == "function" for value in values)
    is_asked = type(node.ctx) is ast.Load or name in surfaces.GONE_DATA_OPTIONS
    if is_asked and not is_own:
        yield "any", name, node, rule


_OPTIMIZER_CLASS = "keras.optimizers.Optimizer"
#: What the owner is called of members that other objects have too; recurrent layers have
#: ``reset_states`` still.
_OWNERS = {
    "add_update": re.compile("^$|^self$|layer|model"),
    "reset_states": re.compile(r"^(?!self$|$)(?!.*(layer|rnn|lstm|gru|cell|env))"),
    "to_yaml": re.compile("model|network"),
}
#: Members that models of other libraries have too, and those libraries.
_OF_OTHERS = ("predict_classes", "predict_proba")
_OTHERS = re.compile(r"^\s*(?:from|import)\s+(?:sklearn|xgboost|lightgbm|catboost)\b", re.M)


@rule("keras-members", [("any", name) for name in surfaces.KERAS_MEMBERS])
def keras_members(use: Use) -> None:
    """Methods that Keras 3 has not: ``fit_generator``, ``predict_classes``, ``to_yaml``, ..."""
    if use.plan.keras == "2" and use.name not in surfaces.KERAS_2_MEMBERS:
        return
    text, owner = use.module.text, last_word(use.node.value).lower()
    if use.name in _OF_OTHERS and ("keras" not in text or _OTHERS.search(text)):
        return
    if use.name in _OWNERS:
        is_keras = "keras" in text or "tensorflow" in text
        if not is_keras or not _OWNERS[use.name].search(owner):
            return
    why = "Keras %s has it no longer" % use.plan.keras
    use.leave(why, surfaces.KERAS_MEMBERS[use.name])


@rule(
    "keras-optimizers",
    [
        ("tf", name)
        for name in (*surfaces.KERAS_OPTIMIZERS, *surfaces.KERAS_REFUSES, _OPTIMIZER_CLASS)
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


_OPTIMIZERS_OF_1 = (
    "tf.keras.optimizers.Adam(rate, epsilon=1e-8) for AdamOptimizer, SGD for "
    "GradientDescentOptimizer and MomentumOptimizer; others compute something else; --keras 2 "
    "takes it as it is"
)
_LAYERS, _OPTIMIZERS = "keras.layers.", "keras.optimizers."
_LAYER = re.compile("^$|^self$|layer")
_LAYER_CLASS = re.compile(r"keras\.layers\.[A-Z]")
#: Other libraries whose models are saved.
_SAVED_BY_OTHERS = re.compile(
    r"^\s*(?:from|import)\s+(?:gensim|stable_baselines|torch|sklearn)", re.M
)


@rule("keras-arguments", [KEY])
def keras_arguments(use: Use) -> None:
    """Arguments that Keras 3 refuses: ``fit(workers=)``, ``add_weight("w")``, ``optimizer.lr``."""
    dotted = use.tensorflow_name(use.node) or ""
    if dotted.startswith("initializers.") and not gone_names.is_v1(use):
        dotted = "keras." + dotted  # they are Keras's in TensorFlow 2
    if use.name in surfaces.KERAS_SHAPES:
        if _LAYER_CLASS.match(_makes(use, use.node.value)):
            use.leave("no layer of Keras 3 has it", surfaces.KERAS_SHAPES[use.name])
    elif dotted.startswith("keras."):
        _of_class(use, dotted.replace("keras.optimizers.legacy.", _OPTIMIZERS))
    elif not dotted and type(use.node) is ast.Attribute and not _is_own(use):
        _of_method(use)


def _is_own(use: Use) -> bool:
    """Whether a member is one of the program's own classes."""
    values = use.evaluator.values(use.module, use.node.value if use.name == "lr" else use.node)
    return bool(values) and all(value[0] in ("function", "class", "object") for value in values)


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
    if dotted == "keras.callbacks.ModelCheckpoint":
        weights = use.argument(3, "save_weights_only")
        word = use.code(weights.value) if weights is not None else "False"
        ends = {"False": (".keras", ".h5"), "True": (".weights.h5",)}.get(word, ("",))
        _leave_path(use, ends)
    elif dotted == "keras.backend.set_value":
        variable = use.argument(0, "x")
        if variable is not None and last_word(variable.value) in ("lr", "learning_rate"):
            use.leave("it takes no variable of Keras 3", "optimizer.learning_rate = value")


def _of_method(use: Use) -> None:
    owner = use.node.value
    _leave_refused(use, surfaces.KERAS_ARGUMENTS.get("." + use.name, {}))
    if use.name == "compile":
        optimizer = use.argument(0, "optimizer")
        if optimizer and ("is", "optimizer") in use.evaluator.values(use.module, optimizer.value):
            use.leave("Keras 3 takes no optimizer of tf.train", _OPTIMIZERS_OF_1)
    elif use.name == "lr":
        use.leave("no optimizer of Keras 3 has it", "learning_rate")
    elif use.name in ("add_variable", "add_weight"):
        first = use.argument(0)
        is_name = first is not None and walks.text(first.value) is not None
        if is_name and _LAYER.search(last_word(owner)):
            use.leave("Keras 3 takes the name by keyword", "add_weight(name=..., shape=...)")
    elif use.name == "save_weights":
        _leave_path(use, (".weights.h5",))
    elif use.name == "save":
        if "model" in last_word(owner).lower() and not _SAVED_BY_OTHERS.search(use.module.text):
            _leave_path(use, (".keras", ".h5", ".hdf5"))
    elif use.name == "apply_gradients":
        is_of_1 = use.is_v1() or use.argument(1, "global_step") is not None
        if not is_of_1 and ("is", "optimizer") not in use.evaluator.values(use.module, owner):
            _leave_refused(use, {"name": "nothing: leave it out"})
    elif use.name == "minimize" and _makes(use, owner).startswith(_OPTIMIZERS):
        use.leave("no optimizer of Keras 3 has it", "tf.GradientTape and apply_gradients")


def _leave_refused(use: Use, refused: dict[str, str]) -> None:
    for each in use.arguments if use.call else ():
        word = each.name
        for key in (word, "%s=%s" % (word, use.code(each.value))) if word else ():
            key = key.replace('"', "'")
            if key in refused:
                use.leave("Keras 3 does not take %s" % key, refused[key])


def _leave_path(use: Use, ends: Iterable[str]) -> None:
    """Reports a call whose path ends, as far as it is written out, in none of `ends`."""
    path: Argument | None = use.argument(0, "filepath")
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


def _makes(use: Use, node: Any) -> str:
    """The name below ``tf`` of the class that an object is made by, "" if that is not seen."""
    if type(node) is ast.Name:
        assigned = [use.module.assign(each) for each in use.module.scope(node)[node.id]]
        node = assigned[0].value if len(assigned) == 1 and assigned[0] else None
    return use.tensorflow_name(node.func) or "" if type(node) is ast.Call else ""
