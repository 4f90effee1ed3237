"""Writes the table CHANGED_DEFAULTS: arguments of Keras whose defaults TensorFlow 2 changed.

    python -m compat.make.changed_defaults OLD_PYTHON

OLD_PYTHON has TensorFlow 1.15; the Python that runs has the newest release and tf_keras. Both are
asked for the parameters of each public class and function of ``tf.keras``. A default that is
another one is in the table, or in `ALIKE`, with a reason.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Iterator

from compat.make import tables

#: {parameter: why its old default and its new one do the same, or nothing to numbers}.
ALIKE = {
    "aggregation": "an enumeration of another name",
    "checkpoint_format": "of Estimators, which have ended",
    "label_smoothing": "0 and 0.0",
    "log_dir": "a folder",
    "name": "a name",
    "negative_slope": "0 and 0.0",
    "profile_batch": "a profile",
    "ragged": "False and None",
    "sparse": "False and None",
    "threshold": "0 and 0.0",
    "verbose": "what is printed",
}
#: {name: why it is left out}.
_SKIPPED = {
    "keras.experimental.LinearModel": "experimental, and told by gone-names with Keras 3",
    "keras.preprocessing.image.apply_affine_transform": "an inner function of ImageDataGenerator",
}
#: Notes in `found` the parameters of each public class and function of ``tf.keras``, as (name,
#: kind, default); None where Python cannot tell.
WALK = """
import inspect, json
import tensorflow as tf
found = {}
def parameters(value):
    try:
        asked = inspect.unwrap(value.__init__ if inspect.isclass(value) else value)
        every = inspect.signature(asked).parameters.values()
    except (TypeError, ValueError):
        return None
    return [(p.name, p.kind.name, None if p.default is p.empty else repr(p.default))
            for p in every if p.name != "self"]
def walk(module, above, seen):
    for word in dir(module):
        name = above + "." + word
        try:
            value = getattr(module, word)
        except Exception:
            continue
        if word.startswith("_"):
            continue
        if inspect.ismodule(value) or hasattr(value, "__path__"):
            if id(value) not in seen and "keras" in getattr(value, "__name__", ""):
                walk(value, name, seen | {id(value)})
        elif callable(value):
            found[name] = parameters(value)
walk(tf.keras, "keras", set())
"""


def signatures(python: str) -> dict[str, dict[str, list[str]]]:
    """{name: {parameter: [its place, its default]}} of ``tf.keras``, as an environment has it."""
    environment = {**os.environ, "TF_USE_LEGACY_KERAS": "1"}
    done = subprocess.run(
        [python, "-c", WALK + "print(json.dumps(found))"],
        env=environment,
        stdout=subprocess.PIPE,
        check=True,
    )
    return {
        name: {each: [str(place), default] for place, (each, _, default) in enumerate(parameters)}
        for name, parameters in json.loads(done.stdout.splitlines()[-1]).items()
        if parameters is not None
    }


def lines(
    old: dict[str, dict[str, list[str]]], new: dict[str, dict[str, list[str]]]
) -> Iterator[str]:
    """Yields the rows of the table."""
    for name in sorted(old.keys() & new.keys() - _SKIPPED.keys()):
        for parameter, (place, default) in old[name].items():
            today = new[name].get(parameter, ["", default])[1]
            if default != today and None not in (default, today) and parameter not in ALIKE:
                yield "%s: %s | %s %s" % (name, parameter, place, default)


def main(arguments: list[str]) -> int:
    """Writes the table; returns 0, or 2 without an environment."""
    if len(arguments) != 1:
        print(__doc__)
        return 2
    tables.write("CHANGED_DEFAULTS", lines(signatures(arguments[0]), signatures(sys.executable)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
