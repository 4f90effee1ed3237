"""Arguments that Keras 3 refuses: ``fit(workers=)``, ``add_weight("w", ...)``, ``optimizer.lr``."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any, Mapping, Sequence

from tpudist import surfaces
from tpudist.surfaces.eras import walks
from tpudist.surfaces.eras.walks import last_word
from tpudist.tools.migrate import keras_calls
from tpudist.tools.migrate.rules import gone_names

if TYPE_CHECKING:
    from tpudist.tools.migrate.resolution.module import Argument
    from tpudist.tools.migrate.use import Use

STEP = "latest"
NOTE = "https://keras.io/guides/migrating_to_keras_3/"
USES = [keras_calls.KEY]

_LAYERS, _OPTIMIZERS = "keras.layers.", "keras.optimizers."
_MODELS = ("keras.Model", "keras.Sequential", "keras.models.", "keras.applications.")
#: What an optimizer is that is not of tf.train for certain, and no object of the program's own.
_NOT_OF_1 = frozenset([("other",), ("unknown",)])
_RATES = ("lr", "learning_rate")
_LAYER = re.compile("^$|^self$|layer")
_FORMAT = re.compile(r"%[-\d.]*s\Z|\}\Z")
#: Other libraries whose models are saved.
_OTHERS = re.compile(r"^\s*(?:from|import)\s+(?:gensim|stable_baselines|torch|sklearn)", re.M)


def apply(use: Use) -> None:
    """Leaves a call with such an argument.

    Args:
      use: the `Use`.
    """
    if use.name == "lr":
        if not _is_own(use, use.node.value):
            use.leave("no optimizer of Keras 3 has it", "learning_rate")
        return
    if use.name in surfaces.KERAS_SHAPES:
        if _is_of_layer(use, use.node.value):
            use.leave("no layer of Keras 3 has it", surfaces.KERAS_SHAPES[use.name])
        return
    dotted = use.tensorflow_name(use.node) or ""
    if dotted.startswith("initializers.") and not gone_names.is_v1(use):
        dotted = "keras." + dotted  # they are Keras's in TensorFlow 2
    if dotted.startswith("keras."):
        _of_class(use, dotted.replace("keras.optimizers.legacy.", _OPTIMIZERS))
    elif not dotted and isinstance(use.node, ast.Attribute) and not _is_own(use, use.node):
        _of_method(use)


def _is_own(use: Use, node: Any) -> bool:
    """Whether an expression is of the program's own classes and functions."""
    values = use.evaluator.values(use.module, node)
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
        ends = {"False": (".keras", ".h5"), "True": (".weights.h5",)}.get(word)
        _leave_path(use, use.argument(0, "filepath"), ends)
    elif dotted == "keras.backend.set_value":
        variable = use.argument(0, "x")
        if variable is not None and last_word(variable.value) in _RATES:
            use.leave("it takes no variable of Keras 3", "optimizer.learning_rate = value")


def _of_method(use: Use) -> None:
    _leave_refused(use, surfaces.KERAS_ARGUMENTS.get("." + use.name, {}))
    if use.name == "add_weight":
        first, owner = use.argument(0), last_word(use.node.value)
        is_name = first is not None and walks.text(first.value) is not None
        if is_name and _LAYER.search(owner):
            use.leave("Keras 3 takes the name by keyword", "add_weight(name=..., shape=...)")
    elif use.name == "save_weights":
        _leave_path(use, use.argument(0, "filepath"), (".weights.h5",))
    elif use.name == "save" and _saves_a_model(use):
        _leave_path(use, use.argument(0, "filepath"), (".keras", ".h5", ".hdf5"))
    elif use.name == "apply_gradients":
        _leave_name(use)
    elif use.name == "minimize" and _makes(use, use.node.value).startswith(_OPTIMIZERS):
        use.leave("no optimizer of Keras 3 has it", "tf.GradientTape and apply_gradients")


def _leave_name(use: Use) -> None:
    """Leaves the name of ``apply_gradients``, which the optimizers of TensorFlow 1 take as well."""
    made = _makes(use, use.node.value)
    if made.startswith(_OPTIMIZERS):
        _leave_refused(use, {"name": "nothing: leave it out"})
    elif (
        not made and use.argument(-1, "name") is not None and use.argument(1, "global_step") is None
    ):
        values = use.evaluator.values(use.module, use.node.value)
        if values <= _NOT_OF_1 and not use.plan.program.wants_v1(use.module.path):
            use.leave(
                "it cannot be told whether this optimizer is one of Keras 3, which takes no name",
                "nothing: leave the name out",
            )


def _saves_a_model(use: Use) -> bool:
    is_model = "model" in last_word(use.node.value).lower()
    return is_model and _OTHERS.search(use.module.text) is None


def _leave_refused(use: Use, refused: Mapping[str, str]) -> None:
    for each in use.arguments:
        word = each.name
        for key in (word, "%s=%s" % (word, use.code(each.value))) if word else ():
            key = key.replace('"', "'")
            if key in refused:
                use.leave("Keras 3 does not take %s" % key, refused[key])


def _leave_path(use: Use, argument: Argument | None, ends: Sequence[str] | None) -> None:
    """Leaves a call with a path whose end is seen, and is none of some."""
    if argument is None or not ends:
        return
    end = _end(argument.value)
    if end is not None and not end.endswith(tuple(ends)):
        use.leave("Keras 3 takes no such path", "a path that ends in " + " or ".join(ends))


def _end(node: Any) -> str | None:
    """The text that an expression ends with, None if that is not seen."""
    text = walks.text(node)
    if text is not None:
        return text
    if isinstance(node, ast.JoinedStr) and node.values:
        return walks.text(node.values[-1])
    if isinstance(node, ast.BinOp):
        return _end(node.right) if isinstance(node.op, ast.Add) else _formatted(node.left)
    name = last_word(node.func) if isinstance(node, ast.Call) else ""
    if name == "format" and isinstance(node.func, ast.Attribute):
        return _formatted(node.func.value)
    return _end(node.args[-1]) if name == "join" and node.args else None


def _formatted(node: Any) -> str | None:
    """As `_end`, of a text in which something is put: not where that is its end."""
    text = _end(node)
    return None if text is None or _FORMAT.search(text) else text


def _is_of_layer(use: Use, node: Any) -> bool:
    """Whether an expression is a layer of Keras, or one of a model's ``layers``, for certain."""
    if isinstance(node, ast.Subscript):
        return _is_layers(use, node.value) and type(walks.index_of(node)) is not ast.Slice
    if isinstance(node, ast.Name):
        loops = [use.module.parent(each.node) for each in use.module.scope(node)[node.id]]
        if loops and all(isinstance(each, (ast.For, ast.comprehension)) for each in loops):
            return all(_is_layers(use, each.iter) for each in loops)
    dotted = _makes(use, node)
    return dotted.startswith(_LAYERS) and dotted[len(_LAYERS) :][:1].isupper()


def _is_layers(use: Use, node: Any) -> bool:
    """Whether an expression is the ``layers`` of a model that the program made."""
    is_layers = isinstance(node, ast.Attribute) and node.attr == "layers"
    return is_layers and _makes(use, node.value).startswith(_MODELS)


def _makes(use: Use, node: Any) -> str:
    """The name below ``tf`` of what makes an object: a call, an assigned value, a base."""
    if isinstance(node, ast.Call):
        owner = use.module.around(node, ast.ClassDef) if use.code(node.func) == "super" else None
        if owner is not None and len(owner.bases) == 1:
            return use.tensorflow_name(owner.bases[0]) or ""
        return use.tensorflow_name(node.func) or ""
    if not isinstance(node, ast.Name):
        return ""
    found = set()
    for each in use.module.scope(node)[node.id]:
        value = getattr(use.module.assign(each), "value", None)
        found.add(_makes(use, value) if isinstance(value, ast.Call) else "")
    return found.pop() if len(found) == 1 else ""
