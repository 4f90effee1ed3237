"""Writes KERAS_3.md: what differs between Keras 2 and Keras 3.

    python -m compat.make.keras_3 PYTHON_OF_2_2

TensorFlow 2.2, whose Keras 2 it is as well, tf_keras and Keras 3 of the Python that runs are asked
for the parameters of every public class, function and method of ``tf.keras``, and for the members
of an object of each kind that `tpudist migrate` knows. Each difference has a rule of ``tpudist
migrate --keras 3``, or a reason in `REASONS`; it exits with 1 if one has neither. The tables
KERAS_3_DEFAULTS and KERAS_3_PLACES are written on the way.
"""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
from typing import Any, Iterator

from compat.make import changed_defaults, tables
from tpudist import surfaces

PAGE = pathlib.Path(__file__).resolve().parent.parent / "KERAS_3.md"
#: {what a difference is of: why no rule asks for it}: a member or parameter, whatever it is of; or
#: "kind: name".
REASONS = {
    **dict.fromkeys(
        """adaptive_epsilon jit_compile use_legacy_format type_spec save_before_preemption
        softmax_robust_masking robust_masking model_name layer_range options
        pss_evaluation_shards gradient_aggregator gradient_transformers model_variable
        variable_name get_weight_paths save_spec autotune_steps_per_execution
        steps_per_execution finalize_state skip_gradients_aggregation aggregate_gradients
        compute_gradients build_from_config get_build_config load_own_variables
        save_own_variables merge_state steps_per_execution""".split(),
        "TensorFlow 2.2 had none",
    ),
    **dict.fromkeys(
        "alpha activity_regularizer input_length sparse on_batch_begin on_batch_end normalize "
        "trainable custom_objects from_config".split(),
        "Keras 3 takes it, by its ``**kwargs``",
    ),
    **dict.fromkeys(
        """data_format dilation_rate strides padding alpha_initializer value min_lr reduction dpi
        show_layer_names width ema_overwrite_frequency implementation row_axis col_axis
        channel_axis""".split(),
        "the same, spelled otherwise, or nothing to numbers",
    ),
    **dict.fromkeys(
        """instance inputs mask input_shape input_shapes constants states grad _ args kwargs
        var_list training call build compute_mask compute_output_shape get_initial_state
        update_step""".split(),
        "a method that Keras calls itself, by place",
    ),
    **dict.fromkeys(
        """layer_index node_index grayscale cache_dir subset epsilon_ losses value shape
        initial_value""".split(),
        "rare: an error that names the argument",
    ),
    **dict.fromkeys(
        "history optimizer stop_training".split(), "compile or fit set it, as in Keras 3"
    ),
    **dict.fromkeys(
        "input_names train_tf_function validation_data".split(), "an inner value of Keras 2"
    ),
    **dict.fromkeys(
        "weight_decay clipnorm clipvalue global_clipnorm use_ema ema_momentum dtype".split(),
        "the class above others: what is made below it passes them on",
    ),
    "add_metric": "told of a layer's",
    "by_name": "Keras 3 takes it of .h5 files, which are those that have names",
    "layer": "rare: an error that names the argument",
    **dict.fromkeys(changed_defaults.ALIKE, "the same, spelled otherwise, or nothing to numbers"),
    **dict.fromkeys("apply add_weight".split(), "a method that Keras calls itself"),
    **dict.fromkeys(
        """document_count text identifier module_objects printable_module_name signatures
        include_optimizer""".split(),
        "rare: an error that names the argument",
    ),
    "learning_rate": "Lion is newer than TensorFlow 2.2",
    "stateful": "recurrent layers, of which it is asked, have it",
    "aggregation": "add_weight of a metric: one value on every replica",
    "synchronization": "told of a layer's add_weight",
}
_OBJECTS = """
import inspect
inputs = tf.keras.Input((2,))
dense = tf.keras.layers.Dense(1)
model = tf.keras.Model(inputs, dense(inputs))
objects = {"model": model, "layer": dense, "metric": tf.keras.metrics.Mean(),
           "keras_optimizer": tf.keras.optimizers.SGD(0.1), "loss": tf.keras.losses.Hinge(),
           "callback": tf.keras.callbacks.Callback()}
members = {kind: [m for m in dir(each) if m[0] != "_"] for kind, each in objects.items()}
"""
_METHODS = """
for kind, each in objects.items():
    for name in members[kind]:
        method = getattr(type(each), name, None)
        if inspect.isroutine(method):
            found["%s.%s" % (kind, name)] = parameters(method)
print(json.dumps([found, members]))
"""


def read(python: str, legacy: str) -> tuple[dict[str, Any], dict[str, list[str]]]:
    """({name: [(parameter, kind, default)]}, {kind: members}) of Keras 2 (legacy is "1") or 3."""
    environment = {**os.environ, "TF_USE_LEGACY_KERAS": legacy}
    done = subprocess.run(
        [python, "-c", changed_defaults.WALK + _OBJECTS + _METHODS],
        env=environment,
        stdout=subprocess.PIPE,
        check=True,
    )
    signatures, members = json.loads(done.stdout.splitlines()[-1])
    return signatures, members


class Difference:
    """One difference: what it is of, what it is, and the rule or reason that it has."""

    def __init__(self, of: str, kind: str, name: str, was: str = "", now: str = "") -> None:
        self.of, self.kind, self.name, self.was, self.now = of, kind, name, was, now

    def answer(self) -> str:
        """The key of its rule, or a reason; "" if it has neither."""
        owner, _, method = self.of.rpartition(".")
        is_method = owner in surfaces.DESCRIPTIONS
        if self.kind == "default" and self.name not in REASONS:
            return "keras-arguments, written out"
        if self.kind == "place":
            return "keras-arguments, by keyword"
        if self.kind == "member":
            kinds = (self.of, "layer") if self.of == "model" else (self.of,)
            if any((kind, self.name) in surfaces.KERAS_MEMBERS for kind in kinds):
                return "keras-members"
        rows = surfaces.KERAS_ARGUMENTS.get("." + method if is_method else self.of, {})
        renamed = surfaces.KERAS_RENAMED.get(self.of, {})
        if self.of.startswith("keras.layers.") and self.name in surfaces.KERAS_LAYERS:
            return "keras-arguments"
        if any(each.partition("=")[0] == self.name for each in (*rows, *renamed)):
            return "keras-arguments"
        if is_method and any((owner, method) == key for key in surfaces.KERAS_MEMBERS):
            return "keras-members"
        if self.of in surfaces.KERAS_REFUSES:
            return "keras-optimizers"
        if self.of == "metric" and self.kind == "member":
            return "of a metric, which was a layer: nobody asks one for it"
        return REASONS.get(self.name, REASONS.get(method, ""))


def differences(olds: list[Any], today: tuple[Any, Any]) -> Iterator[Difference]:
    """Yields each difference; those of places are of the first of `olds`."""
    new, members_now = today
    seen: set[tuple[str, ...]] = set()
    for old, members in olds:
        for kind, names in members.items():
            for name in sorted(set(names).difference(members_now[kind])):
                if (kind, name) not in seen:
                    yield Difference(kind, "member", name)
                seen.add((kind, name))
        for name in sorted(old.keys() & new.keys()):
            if old[name] is not None and new[name] is not None:
                for each in _of_parameters(name, old[name], new[name]):
                    key = each.of, each.kind, each.name
                    if key not in seen and (each.kind != "place" or old is olds[0][0]):
                        yield each
                    seen.add(key)


def _of_parameters(of: str, old: list[Any], new: list[Any]) -> Iterator[Difference]:
    now = {name: default for name, _, default in new}
    for name, kind, default in old:
        if kind.startswith("VAR"):
            continue
        if name not in now:
            yield Difference(of, "argument", name)
        elif default is not None and default != now[name]:
            yield Difference(of, "default", name, default, str(now[name]))
    by_place = [
        [name for name, kind, _ in every if kind.startswith("POSITIONAL")] for every in (old, new)
    ]
    for place, name in enumerate(by_place[0]):
        if name in now and by_place[1][place : place + 1] != [name] and by_place[1][place:]:
            yield Difference(of, "place", name, str(place))


def write_tables(found: list[Difference], old: dict[str, Any]) -> None:
    """Writes the tables KERAS_3_DEFAULTS and KERAS_3_PLACES, from the parameters of 2.2."""
    public = [each for each in found if each.of.startswith("keras.") and each.of in old]
    rows = []
    for each in public:
        if each.kind == "default" and each.name not in REASONS:
            place = [name for name, *_ in old[each.of]].index(each.name)
            rows.append("%s: %s | %d %s" % (each.of, each.name, place, each.was))
    tables.write("KERAS_3_DEFAULTS", rows)
    first: dict[str, int] = {}
    for each in found:
        if each.kind == "place" and each.of in old:
            first.setdefault(each.of, int(each.was))
    lines = []
    for of, place in first.items():
        names = [name for name, kind, _ in old[of] if kind.startswith("POSITIONAL")][place:]
        lines.append("%s | %d %s" % (of, place, " ".join(names)))
    tables.write("KERAS_3_PLACES", lines)


_HEAD = """# Keras 2 and Keras 3

What differs between `tf.keras` of TensorFlow 2.2, or of the package tf_keras, and of Keras 3,
by inspection, and what `tpudist migrate --to latest --keras 3` does about it. Written by
`python -m compat.make.keras_3 PYTHON_OF_2_2`, which fails while a difference has neither a rule
nor a reason. Names that Keras 3 has not at all are in the rule `gone-names`; what only a run shows
(ops of TensorFlow on the output of a layer, a loss called on lists, `hard_sigmoid`, names with "/")
in `keras-tensors`, `keras-losses` and `keras-arguments`.

| of | what | name | Keras 2 | Keras 3 | rule, or why none |
|---|---|---|---|---|---|
"""


def page(found: list[Difference]) -> str:
    """The page; the same difference of many classes is one row."""
    rows: dict[tuple[str, ...], list[str]] = {}
    for each in found:
        key = (each.kind, each.name, each.was, each.now, each.answer())
        rows.setdefault(key, []).append(each.of)
    lines = []
    for (kind, name, was, now, answer), of in rows.items():
        named = ", ".join(of[:2]) + (" and %d more" % (len(of) - 2) if len(of) > 2 else "")
        lines.append("| %s | %s | `%s` | %s | %s | %s |" % (named, kind, name, was, now, answer))
    return _HEAD + "\n".join(lines) + "\n"


def main(arguments: list[str]) -> int:
    """Writes page and tables; returns 1 if a difference has no answer, 2 without a Python."""
    if len(arguments) != 1:
        print(__doc__)
        return 2
    olds = [read(arguments[0], "1"), read(sys.executable, "1")]
    found = list(differences(olds, read(sys.executable, "0")))
    write_tables(found, olds[0][0])
    PAGE.write_text(page(found), "utf-8")
    open_ = [each for each in found if not each.answer()]
    for each in open_:
        print("%s: %s %s: neither a rule nor a reason" % (each.of, each.kind, each.name))
    return int(bool(open_))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
