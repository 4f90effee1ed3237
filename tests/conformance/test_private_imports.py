"""What imports TensorFlow's private modules natively does so in the drop-ins too."""

import sys
import types

import pytest
import tensorflow as tf

from tpudist import surfaces
from tpudist.dropin import finder, private_modules
from tpudist.dropin.namespace import Namespace

#: Private imports that legacy code has, of which most releases have most.
USUAL = (
    "tensorflow.python.ops",
    "tensorflow.python.ops.array_ops",
    "tensorflow.python.ops.control_flow_ops",
    "tensorflow.python.framework.ops",
    "tensorflow.python.client.device_lib",
    "tensorflow.python.training.optimizer",
    "tensorflow.python.util.nest",
    "tensorflow.core.protobuf.config_pb2",
)


def loaded_modules():
    """{name: module} of all private modules that TensorFlow has loaded."""
    return {
        name: module
        for name, module in list(sys.modules.items())
        if name.startswith("tensorflow.")
        and name.count(".") > 1
        and private_modules.is_private(name[len("tensorflow.") :])
        and isinstance(module, types.ModuleType)
        and module.__name__ == name
    }


@pytest.mark.parametrize("era", surfaces.ERAS)
def test_every_module_is_the_one_that_is_imported_natively(era):
    natively = loaded_modules()
    assert len(natively) > 300 and set(USUAL) <= set(natively)
    other = {}
    for name, module in natively.items():
        found = finder.find_module(era, name[len("tensorflow.") :])
        if found is not module and not isinstance(found, Namespace):
            other[name] = found
    assert other == {}


def imported(statement):
    """What a statement binds as ``found``."""
    names = {}
    exec(statement, names)
    return names["found"]


@pytest.mark.parametrize("era", surfaces.ERAS)
@pytest.mark.parametrize("name", USUAL)
def test_from_imports(era, name):
    parent, _, child = name.rpartition(".")
    statement = "from %s import " + child + " as found"
    dropin = parent.replace("tensorflow", "tpudist.%s.tensorflow" % era, 1)
    native = imported(statement % parent)
    found = imported(statement % dropin)
    assert found is native or isinstance(found, Namespace)


def test_a_replica_knows_how_many_share_the_batch(surface, mode, strategy):
    context = imported(
        "from tpudist.%s.tensorflow.python.tpu.tpu_function import get_tpu_context as found"
        % surface.era
    )

    def build():
        return list(
            surface.results(strategy, lambda: tf.constant(1.0) / context().number_of_shards)
        )

    assert mode.evaluate(build) == [0.25] * 4
    assert context().number_of_shards is None
