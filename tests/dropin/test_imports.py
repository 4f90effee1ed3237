"""Imports of modules below a drop-in namespace."""

import contextlib
import functools
import importlib
import subprocess
import sys

import pytest

from tests.dropin.harness import drop_in
from tests.helpers.generations import second_generation
from tpudist import surfaces
from tpudist.tfcompat import versions

native = pytest.importorskip("tensorflow")


ERAS = surfaces.ERAS


# Imports below a drop-in.


def imported(statement, **names):
    scope = {}
    exec(statement.format(**names), scope)
    return scope


def test_import_of_a_native_module(era):
    scope = imported("import tpudist.{era}.tensorflow.keras.layers as layers", era=era)
    assert scope["layers"].Dense is drop_in(era).keras.layers.Dense
    scope = imported("from tpudist.{era}.tensorflow.keras import layers", era=era)
    assert scope["layers"].Dense is drop_in(era).keras.layers.Dense


def test_import_makes_no_second_copy(era):
    import tensorflow.linalg  # Loaded by its own name, too.

    before = tensorflow.linalg.__spec__
    imported("import tpudist.{era}.tensorflow.linalg as linalg", era=era)
    assert tensorflow.linalg.__spec__ is before
    assert not [
        name
        for name, module in list(sys.modules.items())
        if name.startswith("tpudist.%s.tensorflow.linalg" % era)
        and getattr(module, "__name__", "") == name
    ]


def test_import_of_overlaid_modules(contrib):
    scope = imported("""
from tpudist.contrib.tensorflow.contrib import distribute
import tpudist.contrib.tensorflow.contrib.distribute as d
from tpudist.contrib.tensorflow.contrib.distribute.python import tpu_strategy
import tpudist.contrib.tensorflow.compat.v1 as v1
""")
    assert scope["d"] is scope["distribute"] is contrib.contrib.distribute
    assert scope["tpu_strategy"] is contrib.contrib.distribute.python.tpu_strategy
    assert scope["v1"] is contrib.compat.v1


def test_import_of_a_private_module_is_tensorflows(era):
    scope = imported("from tpudist.{era}.tensorflow.python.framework import ops", era=era)
    assert scope["ops"].__name__.endswith("python.framework.ops")
    assert scope["ops"].Graph is native.Graph


def test_import_star(era):
    scope = imported("from tpudist.{era}.tensorflow import *", era=era)
    assert scope["float32"] is native.float32
    assert scope["distribute"] is drop_in(era).distribute
    assert ("placeholder" in scope) == (era == "contrib" or not versions.TF2)


@second_generation
@pytest.mark.parametrize(
    "statement",
    [
        "import tpudist.contrib.tensorflow.contrib.never_was",
        "from tpudist.contrib.tensorflow.contrib.layers.never import was",
    ],
)
def test_import_of_a_module_that_never_was_is_an_import_error(statement):
    with pytest.raises(ImportError, match="tf.contrib"):
        imported(statement)


@pytest.mark.parametrize(
    "statement",
    [
        "import tpudist.{era}.tensorflow.no_such_module",
        "from tpudist.{era}.tensorflow import no_such_name",
        "import tpudist.{era}.tensorflow.constant",
        "import tpudist.{era}.tensorflow.distribute.experimental.TPUStrategy",
    ],
)
def test_import_of_what_is_no_module(era, statement):
    with pytest.raises(ImportError):
        imported(statement, era=era)


def test_importing_a_drop_in_imports_no_tensorflow(era):
    code = (
        "import sys\nfrom tpudist.%s import tensorflow as tf\n"
        "assert 'tensorflow' not in sys.modules" % era
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_without_tensorflow_the_error_names_what_to_install(era):
    code = (
        "import sys\nsys.modules['tensorflow'] = None\n"
        "from tpudist.%s import tensorflow as tf\n"
        "try:\n  tf.float32\nexcept ImportError as error:\n"
        "  assert 'tpudist[tensorflow]' in str(error), error\n"
        "else:\n  raise SystemExit('no error')" % era
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("name", ["contrib", "contrib.summary", "no_such_module"])
def test_looking_for_what_compat_does_not_have_leaves_tensorflow_as_it_is(tf, name):
    """An import by its name would make a second copy of `tf.compat`'s modules on 2.2."""
    before = native.compat, native.compat.v1.train
    with contextlib.suppress(AttributeError):
        functools.reduce(getattr, name.split("."), tf.compat.v1)
    with contextlib.suppress(ImportError):
        importlib.import_module("%s.compat.v1.%s" % (tf.__name__, name))
    assert (native.compat, native.compat.v1.train) == before
