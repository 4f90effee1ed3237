"""Arguments that Keras 3 refuses: ``fit(workers=)``, ``add_weight("w", ...)``, ``optimizer.lr``."""

import re

import libcst as cst

from tpudist import surfaces
from tpudist.tools.migrate import edits, keras_calls
from tpudist.tools.migrate.resolution.module import last_word
from tpudist.tools.migrate.rules import gone_names

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


def apply(use):
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
    elif not dotted and isinstance(use.node, cst.Attribute) and not _is_own(use, use.node):
        _of_method(use)


def _is_own(use, node):
    """Whether an expression is of the program's own classes and functions."""
    values = use.evaluator.values(use.module, node)
    return bool(values) and all(value[0] in ("function", "class", "object") for value in values)


def _of_class(use, dotted):
    refused = dict(surfaces.KERAS_ARGUMENTS.get(dotted, {}))
    if dotted.startswith(_LAYERS) and dotted != _LAYERS + "InputLayer":
        refused.update(surfaces.KERAS_LAYERS)
        if dotted != _LAYERS + "Embedding":
            refused.update(surfaces.KERAS_WEIGHTS)
    _leave_refused(use, refused)
    for old, new in surfaces.KERAS_RENAMED.get(dotted, {}).items():
        argument = use.argument(-1, old)
        if argument is not None:
            use.rewrite(argument, edits.keyword_renamed(new), new + "=")
    if dotted == "keras.callbacks.ModelCheckpoint":
        weights = use.argument(3, "save_weights_only")
        word = use.code(weights.value) if weights is not None else "False"
        ends = {"False": (".keras", ".h5"), "True": (".weights.h5",)}.get(word)
        _leave_path(use, use.argument(0, "filepath"), ends)
    elif dotted == "keras.backend.set_value":
        variable = use.argument(0, "x")
        if variable is not None and use.last_word(variable.value) in _RATES:
            use.leave("it takes no variable of Keras 3", "optimizer.learning_rate = value")


def _of_method(use):
    _leave_refused(use, surfaces.KERAS_ARGUMENTS.get("." + use.name, {}))
    if use.name == "add_weight":
        first, owner = use.argument(0), use.last_word(use.node.value)
        is_name = first is not None and isinstance(first.value, cst.SimpleString)
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


def _leave_name(use):
    """Leaves the name of ``apply_gradients``, which the optimizers of TensorFlow 1 take as well."""
    made = _makes(use, use.node.value)
    if made.startswith(_OPTIMIZERS):
        _leave_refused(use, {"name": "nothing: leave it out"})
    elif (
        not made and use.argument(-1, "name") is not None and use.argument(1, "global_step") is None
    ):
        values = use.evaluator.values(use.module, use.node.value)
        if values <= _NOT_OF_1 and not use.plan.survey.wants_v1(use.module.path):
            use.leave(
                "it cannot be told whether this optimizer is one of Keras 3, which takes no name",
                "nothing: leave the name out",
            )


def _saves_a_model(use):
    is_model = "model" in use.last_word(use.node.value).lower()
    return is_model and _OTHERS.search(use.module.text) is None


def _leave_refused(use, refused):
    for each in use.call.args:
        word = each.keyword.value if each.keyword is not None else ""
        for key in (word, "%s=%s" % (word, use.code(each.value))) if word else ():
            key = key.replace('"', "'")
            if key in refused:
                use.leave("Keras 3 does not take %s" % key, refused[key])


def _leave_path(use, argument, ends):
    """Leaves a call with a path whose end is seen, and is none of some."""
    if argument is None or not ends:
        return
    end = _end(argument.value)
    if end is not None and not end.endswith(ends):
        use.leave("Keras 3 takes no such path", "a path that ends in " + " or ".join(ends))


def _end(node):
    """The text that an expression ends with, None if that is not seen."""
    if isinstance(node, cst.SimpleString):
        return str(node.evaluated_value)
    if isinstance(node, cst.FormattedString) and node.parts:
        return getattr(node.parts[-1], "value", None)
    if isinstance(node, cst.BinaryOperation):
        is_sum = isinstance(node.operator, cst.Add)
        return _end(node.right) if is_sum else _formatted(node.left)
    name = last_word(node.func) if isinstance(node, cst.Call) else ""
    if name == "format" and isinstance(node.func, cst.Attribute):
        return _formatted(node.func.value)
    return _end(node.args[-1].value) if name == "join" and node.args else None


def _formatted(node):
    """As `_end`, of a text in which something is put: not where that is its end."""
    text = _end(node)
    return None if text is None or _FORMAT.search(text) else text


def _is_of_layer(use, node):
    """Whether an expression is a layer of Keras, or one of a model's ``layers``, for certain."""
    if isinstance(node, cst.Subscript):
        return _is_layers(use, node.value) and not isinstance(node.slice[0].slice, cst.Slice)
    if isinstance(node, cst.Name):
        found = use.module.scope(node)[node.value]
        loops = [use.module.parent(each.node) for each in found if each.node is not None]
        if loops and all(isinstance(each, (cst.For, cst.CompFor)) for each in loops):
            return all(_is_layers(use, each.iter) for each in loops)
    dotted = _makes(use, node)
    return dotted.startswith(_LAYERS) and dotted[len(_LAYERS) :][:1].isupper()


def _is_layers(use, node):
    """Whether an expression is the ``layers`` of a model that the program made."""
    is_layers = isinstance(node, cst.Attribute) and node.attr.value == "layers"
    return is_layers and _makes(use, node.value).startswith(_MODELS)


def _makes(use, node):
    """The name below ``tf`` of what makes an object: a call, an assigned value, a base."""
    if isinstance(node, cst.Call):
        owner = use.module.around(node, cst.ClassDef) if use.code(node.func) == "super" else None
        if owner is not None and len(owner.bases) == 1:
            return use.tensorflow_name(owner.bases[0].value) or ""
        return use.tensorflow_name(node.func) or ""
    if not isinstance(node, cst.Name):
        return ""
    found = set()
    for each in use.module.scope(node)[node.value]:
        value = getattr(use.module.assign(each), "value", None)
        found.add(_makes(use, value) if isinstance(value, cst.Call) else "")
    return found.pop() if len(found) == 1 else ""
