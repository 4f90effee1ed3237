"""What imports bind: names of TensorFlow, of the code base or of what else can be read."""

import sys

import libcst as cst

from tpudist.tools.migrate.resolution import gone_words, tensorflow_names
from tpudist.tools.migrate.resolution.fixed_point import UNKNOWN
from tpudist.tools.migrate.resolution.module import dotted_name

_OTHER = frozenset([("other",)])

#: Modules of Python that hand on what they are given: a copy, a queue, a partial function.
_HAND_ON = frozenset(
    """asyncio collections concurrent contextlib contextvars copy dataclasses enum functools
    importlib inspect itertools multiprocessing operator pickle queue types threading typing
    weakref builtins typing_extensions""".split()
)
#: Packages that are known to make no strategies; they are not read.
_NO_STRATEGIES = frozenset(
    """PIL absl cv2 google gym h5py jax keras librosa matplotlib mock nltk numpy pandas
    psutil pytest requests scipy sentencepiece setuptools six sklearn soundfile tensorboard
    tensorflow_datasets tf_keras tf_slim torch tensorflow_hub tensorflow_metadata
    tensorflow_probability tensorflow_text tqdm yaml""".split()
)
#: Python's own modules, where Python does not list them (before 3.10).
_PYTHON = frozenset(
    """__future__ abc argparse array ast base64 bisect bz2 calendar cmath codecs configparser csv
    datetime decimal difflib distutils fnmatch fractions gc getopt getpass glob gzip hashlib heapq
    html http io json locale logging math mimetypes numbers optparse os pathlib platform pprint
    profile random re resource select shlex shutil signal site socket sqlite3 ssl stat statistics
    string struct subprocess sys sysconfig tarfile tempfile textwrap time timeit traceback
    unicodedata unittest urllib uuid warnings xml zipfile zlib""".split()
)


def of_import(evaluator, module, assignment):
    """The values that an import statement gives a name.

    Args:
      evaluator: the `Evaluator`.
      module: the `Module` of the import.
      assignment: a libcst ImportAssignment.

    Returns:
      A frozenset of values.
    """
    node = assignment.node
    alias = _alias_of(node, assignment)
    name = dotted_name(alias.name)
    if isinstance(node, cst.Import):
        return of_dotted(
            evaluator, module, name if alias.asname is not None else name.split(".")[0]
        )
    base = dotted_name(node.module) if node.module else ""
    return of_from(evaluator, module, base, len(node.relative), name)


def of_dotted(evaluator, module, full):
    """The values of the module that ``import full`` gives."""
    below = tensorflow_names.below_tensorflow(full)
    if below is not None:
        return frozenset([("tf", below)])
    if full.split(".")[0] == "tpudist":
        return frozenset([("tpudist", full)])
    return _module(evaluator, module, full, 0) or frozenset([("unread", full)])


def of_from(evaluator, module, base, level, name):
    """The values that ``from base import name`` gives, with `level` leading dots."""
    if not level and base.split(".")[0] in ("tensorflow", "tpudist"):
        return of_dotted(evaluator, module, base + "." + name)
    inner = _module(evaluator, module, (base + "." + name).strip("."), level)
    path = _find(evaluator, module, base, level)
    if path is None:
        return inner or (UNKNOWN if level else not_read(base))
    other = evaluator.codebase.module(path)
    if other is None:
        return inner or UNKNOWN
    if other is module:
        return inner
    found = evaluator.global_values(other, name)
    return inner if inner and found == UNKNOWN else found


def star_imports(evaluator, module):
    """Paths of the files that ``from x import *`` statements of a module mean."""
    for node in module.nodes.imports:
        if isinstance(node, cst.ImportFrom) and isinstance(node.names, cst.ImportStar):
            base = dotted_name(node.module) if node.module else ""
            path = _find(evaluator, module, base, len(node.relative))
            if path is not None and path != module.path:
                yield path


def has_star(module):
    """Whether a module has ``from tensorflow.a import *``."""
    return any(True for _ in _stars(module))


def starred(module, name):
    """The names of TensorFlow that a name may be by ``from tensorflow.a import *``, as values."""
    return {
        ("tf", full)
        for below in _stars(module)
        for full in [(below + "." + name).lstrip(".")]
        if (gone_words.is_asked(full) if below else tensorflow_names.may_be_starred(full))
    }


def _stars(module):
    """The x of each ``from tensorflow.x import *``."""
    for node in module.nodes.imports:
        if type(node) is cst.ImportFrom and type(node.names) is cst.ImportStar:
            if not node.relative:
                below = tensorflow_names.below_tensorflow(dotted_name(node.module))
                if below is not None:
                    yield below


def _find(evaluator, module, full, level):
    """The path of a module: in the code base, or outside if it may matter; or None."""
    codebase = evaluator.codebase
    path = codebase.find_module(full, level, module.path)
    if path is None and (level or not is_known(full)):
        path = codebase.find_outside(full, level, module.path)
    return path


def _module(evaluator, module, full, level):
    """The module of that name, in a set; empty if there is no file of it."""
    path = _find(evaluator, module, full, level)
    if path is None:
        return frozenset()
    other = evaluator.codebase.module(path)
    return frozenset([("module", other)]) if other else UNKNOWN


def is_known(full):
    """Whether a package is one of those that are not read."""
    first = full.split(".")[0]
    return (
        first in _HAND_ON
        or first in _NO_STRATEGIES
        or first in _PYTHON
        or first in getattr(sys, "stdlib_module_names", ())
        or first == "tensorflow"
    )


def not_read(full):
    """The values of a module that no file was found of, or none that is worth reading."""
    return _OTHER if is_known(full) and full.split(".")[0] not in _HAND_ON else UNKNOWN


def _alias_of(node, assignment):
    for alias in node.names:
        if alias.asname is not None:
            bound = dotted_name(alias.asname.name)
        else:
            bound = dotted_name(alias.name)
        if bound == assignment.name or (
            isinstance(node, cst.Import)
            and alias.asname is None
            and bound.split(".")[0] == assignment.name.split(".")[0]
        ):
            return alias
    return node.names[0]
