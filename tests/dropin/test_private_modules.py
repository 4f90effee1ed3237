"""Private modules of TensorFlow by the paths that old code imports, on any release."""

import os
import subprocess
import sys

import pytest

from tests.helpers.generations import second_generation
from tpudist import dropin, surfaces
from tpudist.dropin import finder, namespace
from tpudist.tfcompat import keras_packages, versions

native = pytest.importorskip("tensorflow")

today = pytest.mark.skipif(not versions.KERAS_3, reason="the table leads to TensorFlow of today")

#: Statements of code of 2017 to 2021, and what each must find.
STATEMENTS = [
    "from {tf}.python.training import distribution_strategy_context as m; m.get_tower_context",
    "from {tf}.python.training import distribution_strategy_context as m; m.has_strategy",
    "from {tf}.python.distribute import distribution_strategy_context as m; m.get_strategy",
    "from {tf}.python.training import distribute as m; m.get_strategy; m.DistributionStrategy",
    "from {tf}.python.training import training_ops as m; m.resource_apply_adam",
    "import {tf}.python.training.training_ops as m; m.apply_gradient_descent",
    "from {tf}.python.training.checkpointable import base as m; m.CheckpointableBase",
    "from {tf}.python.training.tracking import base as m; m.Trackable; m.VARIABLE_VALUE_KEY",
    "from {tf}.python.training.tracking.tracking import AutoTrackable",
    "from {tf}.python.training.tracking import util as m; m.TrackableSaver",
    "from {tf}.python.framework import ops as m; m.Tensor; m.IndexedSlices; m.Graph",
    "from {tf}.python.framework.ops import Tensor, IndexedSlices, convert_to_tensor",
    "from {tf}.python.ops import control_flow_ops as m; m.while_loop; m.cond; m.case; m.group",
    "from {tf}.python.ops.control_flow_ops import while_loop, Assert, no_op",
    "from {tf}.python.ops import array_ops as m; m.stack; m.unstack; m.reshape",
    "from {tf}.python.ops import variables as m; m.RefVariable; m.VariableV1; m.Variable",
    "from {tf}.python.ops import variable_scope as m; m.variable; m.variable_scope",
    "from {tf}.python.framework import graph_util as m; m.convert_variables_to_constants",
    "from {tf}.python.saved_model import utils_impl as m; m.build_tensor_info",
    "from {tf}.python.tpu import tpu_function as m; m.get_tpu_context",
    "from {tf}.python.tpu.ops import tpu_ops as m; m.tpu_replicated_input",
    "from {tf}.python.distribute import values as m; m.TowerLocalVariable; m.MirroredVariable",
    "from {tf}.python.training import saver as m; m.Saver; m.latest_checkpoint",
    "from {tf}.python.data.ops import dataset_ops as m; m.Dataset",
    "from {tf}.python.estimator import estimator as m; m.Estimator; m.WarmStartSettings; "
    "assert m._load_global_step_from_checkpoint_dir('/none') == 0",
    "from {tf}.python.estimator import estimator_lib as m; m.Estimator; m.train_and_evaluate",
    "from {tf}.python.estimator import model_fn as m; m.EstimatorSpec; m.ModeKeys.TRAIN",
    "from {tf}.python.estimator import run_config as m; m.RunConfig",
    "from {tf}.python.estimator.run_config import RunConfig",
    "from {tf}.python.estimator.export import export as m; m.ServingInputReceiver",
    "from {tf}.python.estimator.export.export_output import PredictOutput, ExportOutput",
]


@pytest.mark.parametrize("statement", STATEMENTS)
def test_old_imports(era, statement):
    scope = {}
    exec(statement.format(tf="tpudist.%s.tensorflow" % era), scope)


@second_generation
@pytest.mark.skipif(keras_packages.is_keras_3(), reason="the eras' Keras is not here")
@pytest.mark.parametrize(
    ("module", "name", "public"),
    [
        ("layers", "Dense", "layers.Dense"),
        ("layers.core", "Dense", "layers.Dense"),
        ("layers.recurrent", "RNN", "layers.RNN"),
        ("engine.base_layer", "Layer", "layers.Layer"),
        ("models", "Sequential", "Sequential"),
        ("backend", "epsilon", "backend.epsilon"),
        ("utils.np_utils", "to_categorical", "utils.to_categorical"),
        ("optimizer_v2.gradient_descent", "SGD", "optimizers.SGD"),
        (
            "optimizer_v2.learning_rate_schedule",
            "LearningRateSchedule",
            "optimizers.schedules.LearningRateSchedule",
        ),
    ],
)
def test_keras_by_its_path_in_tensorflow_is_the_keras_of_the_era(module, name, public):
    scope = {}
    exec("from tpudist.v2_2.tensorflow.python.keras.%s import %s as found" % (module, name), scope)
    exec("from tpudist.v2_2 import tensorflow as tf\npublic = tf.keras.%s" % public, scope)
    assert scope["found"] is scope["public"]


@today
def test_the_profiler_has_another_module_today(era):
    test_old_imports(era, "from {tf}.python.eager import profiler as m; m.start; m.stop")


@today
@pytest.mark.parametrize("dotted", sorted(surfaces.PRIVATE_MODULES))
def test_modules_of_the_table_are_there_today(dotted):
    gone = surfaces.PRIVATE_MODULES[dotted].startswith("contrib.")
    assert gone or finder.find_module("v2_2", dotted) is not None


@today
@pytest.mark.parametrize(
    ("module", "name"), [(m, n) for m, names in surfaces.PRIVATE_MEMBERS.items() for n in names]
)
def test_names_of_the_table_are_there_today(module, name):
    found = finder.find_module("contrib", module)
    assert hasattr(found, name) != ((module, name) in _NOWHERE)


#: Names that only left their module, with a release between.
_NOWHERE = {
    ("python.training.checkpointable.tracking", "NotCheckpointable"),
    ("python.training.tracking.tracking", "NotTrackable"),
}


def test_a_name_that_moved_is_the_object_of_its_new_home():
    ops = finder.find_module("v2_2", "python.framework.ops")
    assert ops.Tensor is native.Tensor
    assert ops.IndexedSlices is native.IndexedSlices
    control_flow = finder.find_module("v2_2", "python.ops.control_flow_ops")
    assert control_flow.while_loop is native.compat.v1.while_loop
    assert control_flow.cond is native.compat.v1.cond


@second_generation
def test_a_registered_function_is_in_the_graph_with_its_attributes():
    function = finder.find_module("v2_2", "python.eager.function")
    double = function.defun(lambda x: 2.0 * x)
    with native.Graph().as_default() as graph:
        fast = function.defun_with_attributes(double, attributes={"api_implements": "double"})
        function.register(fast, native.constant(1.0))
        definitions = graph.as_graph_def().library.function
    assert [each for each in definitions if each.attr["api_implements"].s == b"double"]
    assert double(native.constant(3.0)).numpy() == 6.0


@second_generation
def test_a_tower_context_comes_from_contrib():
    context = finder.find_module("contrib", "python.training.distribution_strategy_context")
    assert context.get_tower_context is dropin.top("contrib").get_tower_context


@pytest.mark.parametrize(
    "statement",
    [
        "import tpudist.{era}.tensorflow.python.ops.no_such_module",
        "from tpudist.{era}.tensorflow.python.ops import no_such_name",
        "from tpudist.{era}.tensorflow.python.framework.ops import no_such_name",
        "import tpudist.{era}.tensorflow.python.training.tracking.no_such_module",
    ],
)
def test_what_never_was_is_an_import_error(era, statement):
    with pytest.raises(ImportError):
        exec(statement.format(era=era), {})


def test_an_attribute_that_is_another_module_stays_it(era):
    """``from tensorflow.python import ops`` is not the package on releases until 2.4."""
    scope = {}
    exec("import tpudist.%s.tensorflow.python.ops.math_ops" % era, {})
    exec("from tpudist.%s.tensorflow.python import ops" % era, scope)
    expected = vars(__import__("tensorflow.python", fromlist=["ops"]))["ops"]
    assert scope["ops"] is expected or namespace.bases_of(scope["ops"]) == [expected]


@pytest.mark.slow
def test_every_module_that_imports_natively_imports_through_the_hook():
    walk = os.path.join(os.path.dirname(__file__), "walk_modules.py")
    done = subprocess.run(
        [sys.executable, walk],
        capture_output=True,
        text=True,
        env=dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path), TF_CPP_MIN_LOG_LEVEL="3"),
    )
    last = done.stdout.strip().split("\n")[-1]
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert int(last.split()[0]) > 700, last


def test_the_sum_over_cores_by_its_private_path(era):
    module = finder.find_module(era, "python.tpu.ops.tpu_ops")
    assert module.cross_replica_sum.__module__ in (
        "tpudist.computations.tpu_ops",
        "tpudist.contrib.tpu",
    )
    assert callable(module.all_to_all)  # all else is TensorFlow's own


@pytest.mark.parametrize("package", ["python.tpu", "contrib.tpu.python.tpu"])
def test_the_tpu_estimator_by_its_private_paths(package):
    from tpudist import estimator

    config = finder.find_module("contrib", package + ".tpu_config")
    made = finder.find_module("contrib", package + ".tpu_estimator")
    assert config.TPUConfig is estimator.tpu.TPUConfig
    assert config.RunConfig is estimator.tpu.RunConfig
    assert made.TPUEstimator is estimator.tpu.TPUEstimator
    assert made.TPUEstimatorSpec is estimator.tpu.TPUEstimatorSpec


@today
@pytest.mark.parametrize(
    "statement",
    [
        "from {tf}.python.estimator import util",
        "import {tf}.python.estimator.canned.dnn",
        "from {tf}.python.tpu import tpu_context",
        "from {tf}.python.tpu.error_handling import ErrorRendezvous",
    ],
)
def test_modules_of_an_estimator_of_ones_own_are_those_of_its_package(era, statement):
    exec(statement.format(tf="tpudist.%s.tensorflow" % era), {})
