"""Compares what Keras' classes make by default: get_config() of instances, and the classes above.

    python -m compat.make.default_instances PYTHON_OF_1_15 PYTHON_OF_2_2

1.15, 2.2, tf_keras and Keras 3 (both of the Python that runs) make an instance of each layer,
optimizer, initializer, regularizer, loss and metric. It prints each difference between one and the
next, with the rule that asks for it or a reason, and exits with 1 if one has neither.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any, Iterator

#: {what differs: the key of its rule, or why none asks for it}.
ANSWERS = {
    **dict.fromkeys(
        ("bin_boundaries", "factor", "rate", "stddev"), "they were given another value"
    ),
    **dict.fromkeys(
        ("pool_size", "strides"), "keras-arguments: Keras 3 has no default of pool_size"
    ),
    "depthwise_initializer": "the same, spelled otherwise",
    "ema_overwrite_frequency": "of optimizers newer than TensorFlow 2.2",
    "implementation": "the same numbers, computed otherwise",
    "kernel_initializer": "the same, spelled otherwise",
    "l2": "the same, rounded",
    "weight_decay": "of optimizers newer than TensorFlow 2.2",
    "learning_rate": "the same, spelled otherwise",
    "negative_slope": "the same, spelled otherwise",
    "oov_token": "the same, spelled otherwise",
    "pointwise_initializer": "the same, spelled otherwise",
    "recurrent_activation": "changed-defaults, keras-arguments",
    "reduction": "the same, spelled otherwise",
    "reset_after": "changed-defaults",
    "threshold": "the same, spelled otherwise",
    "tf.Module": "keras-members: submodules, name_scope",
    "a layer": "keras-members: a metric is no layer in Keras 3",
    "a class of its own": "an inner class of Keras, or one that has a rule of its own",
}
_READ = """
import inspect, json
import tensorflow as tf
found = {}
for module in "layers optimizers initializers regularizers losses metrics".split():
    names = getattr(tf.keras, module)
    for name in dir(names):
        made = getattr(names, name, None)
        for given in ([], [3], [3, 2], [0.5], [[2, 1]]) if inspect.isclass(made) else ():
            try:
                each = made(*given)
                config = json.dumps(each.get_config(), default=lambda v: type(v).__name__)
            except Exception:
                continue
            above = [c.__name__ for c in made.__mro__[1:]]
            found["%s.%s" % (module, name)] = json.loads(config), above
            break
print(json.dumps(found))
"""
_LEFT_OUT = ("name", "dtype", "build_config", "seed")


def read(python: str, legacy: str) -> dict[str, Any]:
    """{"layers.Dense": (its configuration, the classes above it)} of a Python's Keras."""
    environment = {**os.environ, "TF_USE_LEGACY_KERAS": legacy, "TF_CPP_MIN_LOG_LEVEL": "3"}
    command = [python, "-c", _READ]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def _plain(value: object) -> object:
    if isinstance(value, dict):
        kept = {key: _plain(each) for key, each in value.items() if key not in _LEFT_OUT}
        return kept.get("class_name", kept)
    return [_plain(each) for each in value] if isinstance(value, (list, tuple)) else value


def differences(old: dict[str, Any], new: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yields (class, what differs: a key of `ANSWERS`, how)."""
    for name in sorted(old.keys() & new.keys()):
        (before, above), (after, still) = old[name], new[name]
        for key in sorted(before.keys() & after.keys() - set(_LEFT_OUT)):
            if _plain(before[key]) != _plain(after[key]):
                yield name, key, "%.40s: %.40s" % (before[key], after[key])
        for gone in sorted(set(above).difference(still)):
            kinds = {"Module": "tf.Module", "Layer": "a layer"}
            yield name, kinds.get(gone, "a class of its own"), gone


def main(arguments: list[str]) -> int:
    """Prints the differences; returns 1 if one has no answer, 2 without two Pythons."""
    if len(arguments) != 2:
        print(__doc__)
        return 2
    keras = [read(python, "1") for python in (*arguments, sys.executable)]
    keras.append(read(sys.executable, "0"))
    is_open = False
    for old, new, step in zip(keras, keras[1:], ("1.15 to 2.2", "2.2 to tf_keras", "to Keras 3")):
        for name, what, how in differences(old, new):
            print("%s: %s: %s: %s; %s" % (step, name, what, how, ANSWERS.get(what, "NO ANSWER")))
            is_open = is_open or what not in ANSWERS
    return int(is_open)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
