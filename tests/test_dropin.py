"""The drop-in namespaces over the installed TensorFlow, whichever it is."""

import importlib
import subprocess
import sys
import types

import pytest

from tpudist import dropin
from tpudist import errors
from tpudist import surfaces
from tpudist.core import versions

native = pytest.importorskip("tensorflow")

ERAS = surfaces.ERAS
#: tf.contrib is real there, and what tpudist does not cover comes from it.
first_generation = pytest.mark.skipif(versions.TF2, reason="TensorFlow 1 only")
second_generation = pytest.mark.skipif(
    not versions.TF2, reason="TensorFlow 1 has the real tf.contrib")


def drop_in(era):
    return importlib.import_module("tpudist.%s.tensorflow" % era)


@pytest.fixture(params=ERAS)
def era(request):
    return request.param


@pytest.fixture
def tf(era):
    return drop_in(era)


@pytest.fixture
def contrib():
    return drop_in("contrib")


# The era's own names.

@pytest.mark.parametrize("root", ["", "compat.v1.", "compat.v2."])
@pytest.mark.parametrize("era, name", [
    (era, name) for era in ERAS for name in sorted(surfaces.DROPINS[era])])
def test_names_of_the_era(era, root, name):
    value = drop_in(era)
    for part in (root + name).split("."):
        value = getattr(value, part)
    assert value is dropin.load(surfaces.DROPINS[era][name])


@pytest.mark.parametrize("era", ["v2_0", "v2_2"])
def test_strategy_is_the_facade_of_its_era(era):
    facade = importlib.import_module("tpudist.%s.strategy" % era).TPUStrategy
    assert drop_in(era).distribute.experimental.TPUStrategy is facade
    assert getattr(importlib.import_module("tpudist." + era),
                   "TPUStrategy") is facade


def test_contrib_strategy_is_the_facade(contrib):
    from tpudist.contrib.distribute import TPUStrategy
    import tpudist.contrib
    assert contrib.contrib.distribute.TPUStrategy is TPUStrategy
    assert tpudist.contrib.TPUStrategy is TPUStrategy


def test_virtual_cluster_through_the_names_of_the_era(tf):
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver("virtual:8")
    tf.config.experimental_connect_to_cluster(resolver)
    topology = tf.tpu.experimental.initialize_tpu_system(resolver)
    assert isinstance(topology, tf.tpu.experimental.Topology)
    assignment = tf.tpu.experimental.DeviceAssignment.build(
        topology, computation_shape=[1, 1, 2], num_replicas=4)
    assert (assignment.num_replicas, assignment.num_cores_per_replica) == (4, 2)


def test_connecting_to_the_host_of_a_virtual_tpu(tf, monkeypatch):
    connect = tf.config.experimental_connect_to_host
    monkeypatch.delenv("TPUDIST_TPU", raising=False)
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver("virtual:2")
    connect(resolver.master())
    with pytest.raises(ValueError):  # TensorFlow's own answer.
        connect(None)
    monkeypatch.setenv("TPUDIST_TPU", "virtual:2")
    connect("grpc://10.0.0.2:8470")


@pytest.mark.parametrize("module", ["contrib", "v2_0", "v2_2"])
def test_every_export_of_the_packages(module):
    package = importlib.import_module("tpudist." + module)
    for name, target in surfaces.EXPORTS[module].items():
        assert getattr(package, name) is dropin.load(target)
        assert name in dir(package)
    assert not hasattr(package, "no_such_name")


# Everything else is the installed TensorFlow's.

@pytest.mark.parametrize("name", [
    "Session", "placeholder", "get_variable", "train.AdamOptimizer",
    "losses.softmax_cross_entropy", "data.Dataset", "global_variables_initializer",
    "app.run", "flags.DEFINE_integer", "train.Saver", "nn.relu"])
def test_contrib_has_the_names_of_tensorflow_1(contrib, name):
    expected, value = native.compat.v1, contrib
    for part in name.split("."):
        expected, value = getattr(expected, part), getattr(value, part)
    assert value is expected


def test_names_that_only_tensorflow_itself_has(contrib):
    assert contrib.__version__ == native.__version__
    assert contrib.python is not None


@pytest.mark.parametrize("era", ["v2_0", "v2_2"])
@pytest.mark.parametrize("name", [
    "Variable", "data.Dataset", "keras.layers.Dense", "metrics.Mean",
    "nn.relu", "distribute.Strategy", "GradientTape"])
def test_2_eras_have_the_names_of_tensorflow_2(era, name):
    expected, value = native.compat.v2, drop_in(era)
    for part in name.split("."):
        expected, value = getattr(expected, part), getattr(value, part)
    assert value is expected


def test_compat_modules_answer_for_themselves(tf):
    assert tf.compat.v1.placeholder is native.compat.v1.placeholder
    assert tf.compat.v1.data.Dataset is native.compat.v1.data.Dataset
    assert tf.compat.v2.data.Dataset is native.compat.v2.data.Dataset
    assert tf.compat.as_bytes("x") == b"x"


def test_compat_below_compat_is_compat(tf):
    assert tf.compat.v1.compat.v1 is tf.compat.v1
    assert tf.compat.v1.compat.v2 is tf.compat.v2


def test_what_is_not_overlaid_beside_what_is(tf):
    assert tf.distribute.ReduceOp is native.distribute.ReduceOp
    assert (tf.distribute.MirroredStrategy is
            native.distribute.MirroredStrategy) == (
                versions.TF2 == (tf.__name__ != "tpudist.contrib.tensorflow"))


@second_generation
def test_layers_where_keras_has_them(contrib):
    if versions.KERAS_3:
        with pytest.raises(errors.EraNameError) as caught:
            contrib.layers.dense
        assert "Keras 3" in caught.value.why
        assert "tf_keras" in caught.value.instead
    else:
        assert contrib.layers.dense is native.compat.v1.layers.dense


@first_generation
def test_uncovered_contrib_is_the_real_one(contrib):
    assert contrib.contrib.framework is native.contrib.framework
    assert (contrib.contrib.distribute.MirroredStrategy is
            native.contrib.distribute.MirroredStrategy)


# What is gone says so.

@second_generation
@pytest.mark.parametrize("name, words", [
    ("contrib.layers", "tf_slim.layers"),
    ("contrib.slim", "tf_slim"),
    ("contrib.tpu.TPUEstimator", "strategy.run"),
    ("contrib.tpu.keras_to_tpu_model", "model.fit"),
    ("contrib.distribute.MirroredStrategy", "tf.distribute.MirroredStrategy"),
    ("contrib.cluster_resolver.GCEClusterResolver",
     "tf.distribute.cluster_resolver"),
    ("contrib.never_heard_of", "contrib.distribute"),
])
def test_gone_names_say_where_they_went(contrib, name, words):
    owner, _, last = name.rpartition(".")
    value = contrib
    for part in owner.split("."):
        value = getattr(value, part)
    with pytest.raises(errors.EraNameError) as caught:
        getattr(value, last)
    assert "tf." + name in caught.value.seen
    assert native.__version__ in caught.value.seen
    assert "tf.contrib ended with TensorFlow 1.15" == caught.value.why
    assert words in caught.value.instead
    assert not hasattr(value, last)
    assert getattr(value, last, None) is None


@second_generation
def test_contrib_in_a_later_era_names_the_drop_in_that_has_it():
    with pytest.raises(errors.EraNameError, match="from tpudist.contrib import"):
        drop_in("v2_2").contrib


@pytest.mark.skipif(not versions.KERAS_3, reason="TensorFlow 2.16 dropped it")
def test_estimator_is_gone(tf):
    with pytest.raises(errors.EraNameError, match="ended with TensorFlow 2.15"):
        tf.estimator


def test_a_name_that_never_was_is_a_plain_attribute_error(tf):
    with pytest.raises(AttributeError, match="no attribute 'sesion'") as caught:
        tf.sesion
    assert not isinstance(caught.value, errors.EraNameError)
    with pytest.raises(AttributeError, match="TPUStrategi"):
        tf.distribute.experimental.TPUStrategi


# A namespace behaves like a module.

def test_looks_like_a_module(tf, era):
    assert isinstance(tf, types.ModuleType)
    assert isinstance(tf.distribute, types.ModuleType)
    assert repr(tf.distribute) == (
        "<module 'tpudist.%s.tensorflow.distribute' over "
        "'tensorflow.distribute'>" % era)
    assert tf.distribute.__name__ == "tpudist.%s.tensorflow.distribute" % era


def test_dir_lists_both_worlds(contrib):
    assert {"Session", "contrib", "distribute", "get_tower_context"} <= set(
        dir(contrib))
    assert {"TPUStrategy", "TowerContext"} <= set(dir(contrib.contrib.distribute))
    assert {"TPUStrategy", "MirroredStrategy"} <= (
        set(dir(contrib.distribute)) | set(dir(contrib.distribute.experimental)))


def test_the_second_access_is_an_attribute(tf):
    tf.float32
    assert vars(tf)["float32"] is native.float32
    assert tf.distribute is tf.distribute
    assert "experimental" not in vars(tf.distribute) or (
        tf.distribute.experimental is vars(tf.distribute)["experimental"])


def test_setting_a_name_leaves_tensorflow_alone(tf, monkeypatch):
    monkeypatch.setattr(tf, "a_name_of_mine", 1, raising=False)
    assert tf.a_name_of_mine == 1
    assert not hasattr(native, "a_name_of_mine")


@pytest.mark.parametrize("name", ["__wrapped__", "__deepcopy__", "__iter__"])
def test_python_protocols_are_not_looked_up_in_tensorflow(tf, name):
    assert not hasattr(tf, name)


# Imports below a drop-in.

def imported(statement, **names):
    scope = {}
    exec(statement.format(**names), scope)
    return scope


def test_import_of_a_native_module(era):
    scope = imported("import tpudist.{era}.tensorflow.keras.layers as layers",
                     era=era)
    assert scope["layers"].Dense is drop_in(era).keras.layers.Dense
    scope = imported("from tpudist.{era}.tensorflow.keras import layers", era=era)
    assert scope["layers"].Dense is drop_in(era).keras.layers.Dense


def test_import_makes_no_second_copy(era):
    import tensorflow.keras  # Loaded by its own name, too.
    before = tensorflow.keras.__spec__
    imported("import tpudist.{era}.tensorflow.keras as keras", era=era)
    assert tensorflow.keras.__spec__ is before
    assert not [name for name, module in list(sys.modules.items())
                if name.startswith("tpudist.%s.tensorflow.keras" % era)
                and getattr(module, "__name__", "") == name]


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
    scope = imported(
        "from tpudist.{era}.tensorflow.python.framework import ops", era=era)
    assert scope["ops"].__name__.endswith("python.framework.ops")
    assert scope["ops"].Graph is native.Graph


def test_import_star(era):
    scope = imported("from tpudist.{era}.tensorflow import *", era=era)
    assert scope["float32"] is native.float32
    assert scope["distribute"] is drop_in(era).distribute
    assert ("placeholder" in scope) == (era == "contrib" or not versions.TF2)


@second_generation
@pytest.mark.parametrize("statement", [
    "import tpudist.contrib.tensorflow.contrib.slim as slim",
    "from tpudist.contrib.tensorflow.contrib import slim",
    "from tpudist.contrib.tensorflow.contrib.slim import nets",
])
def test_import_of_a_gone_module_is_an_import_error_that_helps(statement):
    with pytest.raises(ImportError, match="tf_slim"):
        imported(statement)


@pytest.mark.parametrize("statement", [
    "import tpudist.{era}.tensorflow.no_such_module",
    "from tpudist.{era}.tensorflow import no_such_name",
    "import tpudist.{era}.tensorflow.constant",
    "import tpudist.{era}.tensorflow.distribute.experimental.TPUStrategy",
])
def test_import_of_what_is_no_module(era, statement):
    with pytest.raises(ImportError):
        imported(statement, era=era)


def test_importing_a_drop_in_imports_no_tensorflow(era):
    code = ("import sys\nfrom tpudist.%s import tensorflow as tf\n"
            "assert 'tensorflow' not in sys.modules" % era)
    subprocess.run([sys.executable, "-c", code], check=True)


def test_without_tensorflow_the_error_names_what_to_install(era):
    code = ("import sys\nsys.modules['tensorflow'] = None\n"
            "from tpudist.%s import tensorflow as tf\n"
            "try:\n  tf.float32\nexcept ImportError as error:\n"
            "  assert 'tpudist[tensorflow]' in str(error), error\n"
            "else:\n  raise SystemExit('no error')" % era)
    subprocess.run([sys.executable, "-c", code], check=True)
