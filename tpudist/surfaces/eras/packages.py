"""Decides which installed packages see a program's TensorFlow, by the names in them.

Code of the eras came as packages that are installed (tensor2tensor, mesh_tensorflow, official):
they name what their TensorFlow had, as the program does, and have to get it from one place.
"""

from __future__ import annotations

import importlib.util
import os
import re
import sys
import sysconfig
from typing import TYPE_CHECKING

from tpudist import machine
from tpudist.surfaces.eras import decisions, evidence, walks

if TYPE_CHECKING:
    from tpudist.surfaces.eras.evidence import Evidence


#: TensorFlow, and what is made for the release at hand and comes with it.
_TENSORFLOWS = frozenset(
    "tensorflow tensorflow_core tensorflow_estimator tensorboard keras tf_keras tpudist".split()
)
_STANDARD = tuple(
    os.path.join(os.path.realpath(sysconfig.get_paths()[name]), "")
    for name in ("stdlib", "platstdlib")
)
_TEST = re.compile(r"(^|_)tests?(_|$)|(^|_)testing(_|$)")
#: Packages that are of any program's era: they carry names of contrib on as they were, and name
#: modules of TensorFlow's own code as they were too. With what they carry on.
CARRIED = {"tf_slim": "tf.contrib.slim"}
#: Packages that see the installed TensorFlow whatever the program's is: each of their releases is
#: made for one of TensorFlow's, with its compiled code or its private modules.
FOLLOWING = frozenset(
    """horovod keras_core keras_cv keras_hub keras_nlp keras_tuner sonnet tensorflow_addons
    tensorflow_datasets tensorflow_hub tensorflow_io tensorflow_model_optimization
    tensorflow_probability tensorflow_text tf_agents transformers wandb""".split()
)
#: A file without any of these words has no evidence of an era.
_WORDS = re.compile(
    rb"\bcontrib\b|(?<![a-z])tpu|TPU|CrossShard|_tower|tower_|experimental_run"
    rb"|logical_device|\bestimator\.|^\s*from tensorflow\S* import .*\bestimator\b"
    rb"|^(import tensorflow(\s+as\s+\w+)?\s*$|from tensorflow import)",
    re.M,
)
#: The kinds of evidence that decide a package's era; ``tf.compat.v1`` is of every one.
DECIDING = (evidence.STATED, evidence.SURFACE, evidence.FIRST_GENERATION)

OUTSIDE, INSTALLED, NOBODYS = "outside", "installed", "nobody's"


def place(name: str, path: object) -> str:
    """The kind of place from which a module, of a file or None, is imported from elsewhere.

    It is OUTSIDE of a file that somebody works on (on PYTHONPATH, or installed in editable mode),
    INSTALLED of a package's, NOBODYS of Python's own and of TensorFlow's.
    """
    if not isinstance(path, str) or not path.endswith(".py"):
        return NOBODYS
    path = os.path.realpath(path)
    if name.partition(".")[0] in _TENSORFLOWS:
        return NOBODYS
    if machine.is_installed(path) or _has_records(top(name, path)):
        return INSTALLED
    return NOBODYS if path.startswith(_STANDARD) else OUTSIDE


def top(name: str, path: str) -> str:
    """The folder of the topmost package of a module, or the module's file if it is of none."""
    stem = os.path.dirname(path) if os.path.basename(path) == "__init__.py" else path
    for _ in range(name.count(".")):
        stem = os.path.dirname(stem)
    return stem


def find(name: str) -> tuple[str | None, str]:
    """(the file or folder of an importable top package, its place), or (None, NOBODYS)."""
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, AttributeError, ValueError):
        spec = None
    if spec is None:
        return None, NOBODYS
    if spec.origin and spec.origin.endswith(".py"):
        return top(name, spec.origin), place(name, spec.origin)
    folders = list(spec.submodule_search_locations or ())
    if not folders:
        return None, NOBODYS
    return folders[0], place(name, os.path.join(folders[0], "__init__.py"))


def is_of_another(uses: list[Evidence], era: str) -> bool:
    """Whether a package with these names was written for another era than the program's."""
    plain = [each for each in uses if each.kind in DECIDING and not each.guarded]
    alone = [each for each in plain if len(each.eras) == 1]
    if alone and decisions.decide(plain).era != era:
        return True
    newer = [each for each in uses if each.kind == evidence.SECOND_GENERATION]
    return era == "contrib" and len(newer) > len(alone)


def names_of(place_: str) -> list[Evidence]:
    """The evidence in the files of a package, its tests left out; what cannot be read too."""
    collected: list[Evidence] = []
    for path in _files(place_):
        try:
            with open(path, "rb") as file:
                raw = file.read()
            if b"tensorflow" not in raw or not _WORDS.search(raw):
                continue
            tree = walks.parse(raw)
        except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
            continue  # it may be of another Python, and never imported
        collected += evidence.uses(walks.nodes(tree), path).evidence
    return collected


def _files(place_: str) -> list[str]:
    if os.path.isfile(place_):
        return [place_]
    collected = []
    for folder, below, names in os.walk(place_):
        below[:] = sorted(each for each in below if not _TEST.search(each))
        modules = [each for each in sorted(names) if each.endswith(".py")]
        collected += [os.path.join(folder, each) for each in modules if not _TEST.search(each[:-3])]
    return collected


def _has_records(place_: str) -> bool:
    """Whether pip installed a package: its folder has a record of it."""
    folder = os.path.dirname(place_)
    if folder not in sys.path:
        return False
    try:
        return any(each.endswith(".dist-info") for each in os.listdir(folder))
    except OSError:
        return False
