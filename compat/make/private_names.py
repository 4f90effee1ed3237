"""Writes the table PRIVATE_NAMES: names that left modules of TensorFlow's own code.

python -m compat.make.private_names PYTHON...

Each PYTHON is one of an environment with an old TensorFlow: 1.15, 2.0 and 2.2 made the
list. A name is in it if an old module defines it, and that module of the installed
TensorFlow, a 2.16 or newer with Keras 3, is there without it. A line of the list:

    MODULE NAME=INSTEAD ...    INSTEAD: the public name, or the module beside it; or nothing
"""

from __future__ import annotations

import collections
import json
import os
import subprocess
import sys
from typing import Any, Dict, Iterable, Iterator, List, Optional

from compat.make import tables
from compat.make.first_generation import is_there
from tpudist import surfaces

#: What SWIG made of C++ for pywrap_tensorflow, as far as training code of 2017 to 2021 names it.
SWIG = {
    "CheckpointReader": "tf.train.load_checkpoint",
    "EventsWriter": "tf.summary.create_file_writer",
    "NewCheckpointReader": "tf.train.load_checkpoint",
    "checkpoint_reader": "tf.train.load_checkpoint",
}
#: What ``tensorflow.python.eager.function`` called ``tf.function``.
DEFUN = dict.fromkeys(("defun", "defun_with_attributes"), "tf.function")
Names = Dict[str, Dict[str, Optional[List[str]]]]
#: Run by either; prints {module below ``tensorflow``: {name it has: its public names if
#: it defines it, else null}}.
WALK = r"""
import importlib, json, os, re, sys
import tensorflow  # whose import of its own code is the one that works
from tensorflow import python
from tensorflow.python.util import tf_decorator

SKIPPED = re.compile(r"(^|[._])(debug|keras|test|tests|testdata|tools|testing|test_util)([._]|$)")
top = os.path.dirname(python.__file__)
found = {}
for folder, _, files in os.walk(top):
    package = "python" + folder[len(top):].replace(os.sep, ".")
    for name in files:
        module = package if name == "__init__.py" else package + "." + name[:-3]
        if not name.endswith(".py") or SKIPPED.search(module):
            continue
        try:
            loaded = importlib.import_module("tensorflow." + module)
        except Exception:
            continue
        names = found[module] = {}
        for word, value in vars(loaded).items():
            own = getattr(value, "__module__", "") == "tensorflow." + module
            names[word] = None
            called = getattr(value, "__name__", word)
            is_public = called != word and not word.startswith("_")
            if is_public and "pywrap" in str(getattr(value, "__module__", "")):
                names[word] = []  # a name of its own for a function of C++, as nest.is_sequence
            if own and not word.startswith("_") and getattr(value, "__name__", "") == word:
                held = getattr(tf_decorator.unwrap(value)[1], "__dict__", {})
                names[word] = (["tf." + each for each in held.get("_tf_api_names") or ()] +
                    ["tf.compat.v1." + each for each in held.get("_tf_api_names_v1") or ()])
print("\n" + json.dumps(found))
sys.stdout.flush()
os._exit(0)  # modules that start threads hold it up
"""


def defined(python: str) -> Names:
    """{module: {name it has: its public names, None if another defines it}} of an environment's."""
    quiet = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3")
    told = subprocess.run(
        [python, "-W", "ignore", "-c", WALK], env=quiet, check=True, stdout=subprocess.PIPE
    )
    return json.loads(told.stdout.decode().splitlines()[-1])  # type: ignore[no-any-return]


def left(old: Names, new: Names) -> Iterator[tuple[str, str, str]]:
    """(module, name, what to type instead or "") of each name that left its module."""
    import tensorflow as tf

    homes = collections.defaultdict(list)
    for module, names in new.items():
        for name, public in names.items():
            if public is not None:
                homes[name].append(module)
    both = {module for module in set(old) & set(new) if "__getattr__" not in new[module]}
    for module in sorted(both):
        for name in sorted(set(old[module]) - set(new[module])):
            exported = old[module][name]
            if exported is None:
                continue
            public = [each for each in exported if is_there(tf, each[len("tf.") :])]
            near = module.rpartition(".")[0] + "."
            private = [
                each for each in homes[name] if each.startswith(near) and ".gen_" not in each
            ]
            private = private if len(homes[name]) == 1 else []
            yield module, name, [*public, *("tensorflow." + each for each in private), ""][0]


def lines(pythons: Iterable[str]) -> Iterator[str]:
    """The rows of the table."""
    new, rows = defined(sys.executable), collections.defaultdict[str, Any](dict)
    for module, names in surfaces.PRIVATE_MEMBERS.items():
        there = new.get(module, {"__getattr__": None})
        if "__getattr__" not in there:
            for name in set(names) - set(there):
                rows[module][name] = ""
    rows["python.pywrap_tensorflow"].update(SWIG)
    rows["python.eager.function"].update(DEFUN)
    for python in pythons:
        for module, name, instead in left(defined(python), new):
            rows[module][name] = rows[module].get(name) or instead
    for module, names in sorted(rows.items()):
        instead: dict[str, list[str]] = {}
        for name, text in sorted(names.items()):
            instead.setdefault(text, []).append(name)
        for text, those in instead.items():
            yield ("%s: %s | %s" % (module, " ".join(those), text)).strip()


def main(pythons: list[str]) -> int:
    """Writes the table; returns 0, or 2 without environments."""
    if not pythons:
        print(__doc__)
        return 2
    tables.write("PRIVATE_NAMES", lines(pythons))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
