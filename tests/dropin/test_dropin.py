"""The drop-in namespaces over the installed TensorFlow, whichever it is."""

import functools
import importlib
import subprocess
import sys
import types

import pytest
import tensorflow as tf

from tests.dropin.harness import drop_in
from tests.helpers.generations import first_generation, second_generation
from tpudist import dropin, errors, surfaces
from tpudist.surfaces import leads
from tpudist.tfcompat import keras_packages, versions

native = pytest.importorskip("tensorflow")

ERAS = surfaces.ERAS


# The era's own names.


@pytest.mark.parametrize("root", ["", "compat.v1.", "compat.v2."])
@pytest.mark.parametrize(
    ("era", "name"), [(era, name) for era in ERAS for name in sorted(surfaces.DROPINS[era])]
)
def test_names_of_the_era(era, root, name):
    module, _, last = name.rpartition(".")
    if name.startswith("python."):  # As an import finds it: on some releases python.ops is another.
        value = getattr(dropin.find_module(era, module), last)
    else:
        value = drop_in(era)
        for part in (root + name).split("."):
            value = getattr(value, part)
    names = surfaces.DROPINS[era]
    assert value is dropin.load(names.get(root + name) or names[name])


@pytest.mark.parametrize("era", ["v2_0", "v2_2"])
def test_strategy_is_the_facade_of_its_era(era):
    facade = importlib.import_module("tpudist.%s.strategy" % era).TPUStrategy
    assert drop_in(era).distribute.experimental.TPUStrategy is facade
    assert importlib.import_module("tpudist." + era).TPUStrategy is facade


def test_contrib_strategy_is_the_facade(contrib):
    import tpudist.contrib
    from tpudist.contrib.distribute import TPUStrategy

    assert contrib.contrib.distribute.TPUStrategy is TPUStrategy
    assert tpudist.contrib.TPUStrategy is TPUStrategy


def test_virtual_cluster_through_the_names_of_the_era(tf):
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver("virtual:8")
    tf.config.experimental_connect_to_cluster(resolver)
    topology = tf.tpu.experimental.initialize_tpu_system(resolver)
    assert isinstance(topology, tf.tpu.experimental.Topology)
    assignment = tf.tpu.experimental.DeviceAssignment.build(
        topology, computation_shape=[1, 1, 2], num_replicas=4
    )
    assert (assignment.num_replicas, assignment.num_cores_per_replica) == (4, 2)


def test_connecting_to_the_host_of_a_virtual_tpu(tf, monkeypatch):
    connect = tf.config.experimental_connect_to_host
    monkeypatch.delenv("TPUDIST_TPU", raising=False)
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver("virtual:2")
    connect(resolver.master())
    with pytest.raises(ValueError):  # noqa: PT011 (TensorFlow's own words)
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


@pytest.mark.parametrize(
    "name",
    [
        "SparseTensor",
        "placeholder",
        "get_variable",
        "train.AdamOptimizer",
        "losses.softmax_cross_entropy",
        "data.Dataset",
        "global_variables_initializer",
        "app.run",
        "flags.DEFINE_integer",
        "train.Saver",
        "nn.relu",
    ],
)
def test_contrib_has_the_names_of_tensorflow_1(contrib, name):
    expected, value = native.compat.v1, contrib
    for part in name.split("."):
        expected, value = getattr(expected, part), getattr(value, part)
    assert value is expected


def test_names_that_only_tensorflow_itself_has(contrib):
    assert contrib.__version__ == native.__version__
    assert contrib.python is not None


@pytest.mark.parametrize("era", ["v2_0", "v2_2"])
@pytest.mark.parametrize(
    "name",
    [
        "Variable",
        "data.Dataset",
        "io.gfile.exists",
        "autograph.to_graph",
        "nn.relu",
        "distribute.Strategy",
        "GradientTape",
    ],
)
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
    assert (tf.distribute.MirroredStrategy is native.distribute.MirroredStrategy) == (
        (tf.__name__ != "tpudist.contrib.tensorflow") == versions.TF2
    )


@second_generation
def test_layers_where_keras_has_them(contrib):
    if keras_packages.is_keras_3():
        with pytest.raises(errors.EraNameError) as caught:
            contrib.layers.dense
        assert "Keras 3" in caught.value.why
        assert "tf_keras" in caught.value.instead
    elif not versions.KERAS_3:
        assert contrib.layers.dense is native.compat.v1.layers.dense


@first_generation
def test_uncovered_contrib_is_the_real_one(contrib):
    assert contrib.contrib.framework is native.contrib.framework
    assert contrib.contrib.distribute.MirroredStrategy is native.contrib.distribute.MirroredStrategy


# What is gone says so.


@second_generation
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("contrib.seq2seq", "copy the few lines"),
        ("contrib.predictor", "saved_model"),
        ("contrib.learn.Experiment", "strategy.run"),
    ],
)
def test_gone_names_say_where_they_went(contrib, name, words):
    owner, _, last = name.rpartition(".")
    value = contrib
    for part in owner.split("."):
        value = getattr(value, part)
    with pytest.raises(errors.EraNameError) as caught:
        getattr(value, last)  # Asks; what reading it gives is tested in test_contrib_names.py.
    assert "tf." + name in caught.value.seen
    assert native.__version__ in caught.value.seen
    assert caught.value.why == "tf.contrib ended with TensorFlow 1.15"
    assert words in caught.value.instead
    assert not hasattr(value, last)
    assert getattr(value, last, None) is None


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("contrib.never_heard_of", "a name of dir(tf.contrib)"),
        ("contrib.tpu.TPUEstimatr", "tf.contrib.tpu.TPUEstimator, if that is meant"),
        ("contrib.distribute.TPUStrateg", "tf.contrib.distribute.TPUStrategy, if that is meant"),
    ],
)
def test_a_name_that_contrib_never_had(contrib, name, instead):
    owner, _, last = name.rpartition(".")
    value = functools.reduce(getattr, owner.split("."), contrib)
    with pytest.raises(errors.EraNameError) as caught:
        getattr(value, last)
    assert caught.value.seen == "there is no tf." + name
    assert "lists no such name in tf.%s" % owner in caught.value.why
    assert caught.value.instead == instead


@pytest.mark.parametrize(
    ("era", "name"), [("contrib", "contrib"), ("contrib", "estimator"), ("v2_2", "estimator")]
)
def test_no_advice_is_what_the_program_does_already(era, name):
    below = [key for key in surfaces.GONE if (key + ".").startswith(name + ".")]
    assert below
    for key in below:
        if era == "contrib" and key in surfaces.DROPINS["contrib"]:
            continue
        advice = leads.instead_in_a_dropin(era, key + ".member")
        assert "tpudist run, which runs it" not in advice, key
        assert "from tpudist." not in advice, key


@second_generation
@pytest.mark.parametrize("era", ["contrib", "v2_0"])
@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("experimental.PeepholeLSTMCell", "for tf.keras.layers.RNN"),
        ("experimental.export_saved_model", "tf.saved_model.save"),
        ("experimental.load_from_saved_model", "tf.keras.models.load_model"),
        ("experimental.terminate_keras_multiprocessing_pools", "nothing"),
        ("utils.HDF5Matrix", "h5py"),
        ("utils.multi_gpu_model", "tf.distribute.MirroredStrategy"),
        ("wrappers.scikit_learn.KerasClassifier", "scikeras"),
    ],
)
def test_a_name_that_keras_lost_says_what_to_type(era, name, instead):
    """A release that still has it gives it."""
    installed = tf.compat.v1.keras if era == "contrib" else tf.keras
    if not keras_packages.is_keras_3() and _below(installed, name) is not None:
        assert _below(drop_in(era).keras, name) is not None
        return
    with pytest.raises(errors.EraNameError) as caught:
        functools.reduce(getattr, name.split("."), drop_in(era).keras)
    if keras_packages.is_keras_3() and name.startswith("experimental"):
        instead = "keras.optimizers.schedules"  # Keras 3 has not the module either
    assert instead in caught.value.instead


def _below(module, name):
    for part in name.split("."):
        module = getattr(module, part, None)
    return module


@second_generation
def test_contrib_in_a_later_era_names_the_drop_in_that_has_it():
    with pytest.raises(errors.EraNameError, match="from tpudist.contrib import"):
        drop_in("v2_2").contrib


def test_canned_estimators_are_those_of_tensorflow_or_its_package(tf):
    assert "BaselineClassifier" in tf.estimator.BaselineClassifier.__name__
    assert "numpy_input_fn" in dir(tf.compat.v1.estimator.inputs)


@pytest.mark.skipif(versions.HAS_ESTIMATOR, reason="TensorFlow 2.16 dropped it")
def test_without_the_package_of_estimators_the_line_to_type_is_said():
    code = (
        "import sys, importlib.util as util\n"
        "find = util.find_spec\n"
        "util.find_spec = lambda name, *more: None if name == 'tensorflow_estimator' else "
        "find(name, *more)\n"
        "from tpudist.contrib import tensorflow as tf\n"
        "for name in ('Estimator', 'DNNClassifier', 'tpu.TPUEstimator'):\n"
        "    try:\n"
        "        eval('tf.estimator.' + name)\n"
        "    except AttributeError as error:\n"
        "        print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, check=True)
    lines = done.stdout.decode().splitlines()
    assert len(lines) == 3
    assert all("pip install --no-deps tensorflow-estimator==2.15.0" in line for line in lines)


def test_a_name_that_never_was_is_a_plain_attribute_error(tf):
    with pytest.raises(AttributeError, match="no attribute 'sesion'") as caught:
        tf.sesion
    assert not isinstance(caught.value, errors.EraNameError)
    with pytest.raises(AttributeError, match="did you mean tf.*experimental.TPUStrategy[?]"):
        tf.distribute.experimental.TPUStrategi


# A namespace behaves like a module.


def test_looks_like_a_module(tf, era):
    assert isinstance(tf, types.ModuleType)
    assert isinstance(tf.distribute, types.ModuleType)
    assert repr(tf.distribute) == (
        "<module 'tpudist.%s.tensorflow.distribute' over 'tensorflow.distribute'>" % era
    )
    assert tf.distribute.__name__ == "tpudist.%s.tensorflow.distribute" % era


def test_dir_lists_both_worlds(contrib):
    assert {"Session", "contrib", "distribute", "get_tower_context"} <= set(dir(contrib))
    assert {"TPUStrategy", "TowerContext"} <= set(dir(contrib.contrib.distribute))
    assert {"TPUStrategy", "MirroredStrategy"} <= (
        set(dir(contrib.distribute)) | set(dir(contrib.distribute.experimental))
    )


def test_the_second_access_is_an_attribute(tf):
    tf.float32
    assert vars(tf)["float32"] is native.float32
    assert tf.distribute is tf.distribute
    assert "experimental" not in vars(tf.distribute) or (
        tf.distribute.experimental is vars(tf.distribute)["experimental"]
    )


def test_setting_a_name_leaves_tensorflow_alone(tf, monkeypatch):
    monkeypatch.setattr(tf, "a_name_of_mine", 1, raising=False)
    assert tf.a_name_of_mine == 1
    assert not hasattr(native, "a_name_of_mine")


@pytest.mark.parametrize("name", ["__wrapped__", "__deepcopy__", "__iter__"])
def test_python_protocols_are_not_looked_up_in_tensorflow(tf, name):
    assert not hasattr(tf, name)
