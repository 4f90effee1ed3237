"""No silence: names of TensorFlow 1, and members of what cannot be followed to its end."""

import types

import pytest

from compat.make import first_generation
from tests.tools.migrate import harness

#: Modules that are no TensorFlow 1, or have tests of their own (`test_gone_names`, `test_keras_3`).
_OTHERS = ("compat", "estimator", "keras", "raw_ops")


def public_names(module, above=""):
    """The dotted names below a module of TensorFlow's API."""
    for word in dir(module):
        each, name = getattr(module, word, None), above + word
        if word.startswith("_") or name in _OTHERS:
            continue
        if not isinstance(each, types.ModuleType):
            yield name
        elif "tensorflow" in getattr(each, "__name__", ""):  # layers of Keras 3 has none
            yield from public_names(each, name + ".")


@pytest.mark.slow
def test_no_name_that_only_tensorflow_1_has_is_passed_over(tmp_path):
    tf = pytest.importorskip("tensorflow", minversion="2.16")
    every = sorted(set(public_names(tf.compat.v1)))
    lost = [name for name in every if not first_generation.is_there(tf, name)]
    files = {"%s.py" % name: "import tensorflow as tf\nx = tf.%s\n" % name for name in lost}
    harness.put(tmp_path, files)
    found = harness.results(tmp_path, "latest")
    told = {path for path, each in found.items() if each.left or each.after != each.before}
    assert len(lost) > 900 and files.keys() - told == set()


#: Where a strategy comes from, in ways that cannot be followed to its end.
SOURCES = [
    "strategy = library.make()",
    "strategy = config.strategy",
    "strategy = getattr(config, 'strategy')",
    "strategy = dict(a=library.make())['a']",
    "strategy = next(library.all())",
    "strategy = copy.copy(library.make())",
    "strategy = Settings(library.make(), 1).first",
    "strategy, other = library.pair()",
    "strategy = vars(config)['strategy']",
    "strategy = [each for each in library.all()][0]",
    "strategy = library.make() if flag else None",
    "strategy = functools.partial(library.make)()",
]


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("member", ["experimental_run_v2", "unwrap", "num_towers"])
def test_what_cannot_be_told_is_told(source, member, tmp_path):
    text = (
        "import collections, copy, functools\nimport tensorflow as tf\nimport library\n"
        "Settings = collections.namedtuple('Settings', 'first second')\n"
        "%s\nstrategy.%s(f)\n" % (source, member)
    )
    harness.put(tmp_path, {"a.py": text})
    assert len(harness.results(tmp_path, "2.2")["a.py"].left) == 1
