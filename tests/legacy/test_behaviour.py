"""TensorFlow's switches: as the era has them inside, as before outside."""

import sys
import types

import numpy as np
import pytest

from tpudist import dropin
from tpudist.errors import ScriptError
from tpudist.legacy import behaviour
from tpudist.tfcompat import versions

tf2 = pytest.importorskip("tensorflow.python.tf2")
tf = pytest.importorskip("tensorflow")
v1 = tf.compat.v1
pytestmark = pytest.mark.usefixtures("at_start")

second_generation = pytest.mark.skipif(
    not versions.TF2, reason="TensorFlow 1 behaves as the contrib era anyway"
)
#: On TensorFlow 1 the 2.x eras need a process of their own: see test_runner.
ERAS = ["contrib", "v2_0", "v2_2"] if versions.TF2 else ["contrib"]


def switches():
    return (
        tf.executing_eagerly(),
        tf2.enabled(),
        isinstance(tf.TensorShape([1])[0], int),
        v1.resource_variables_enabled(),
        v1.control_flow_v2_enabled(),
        tf.Tensor._USE_EQUALITY,
        v1.get_default_session(),
        v1.logging.get_verbosity(),
        v1.reset_default_graph,
        v1.enable_eager_execution,
    )


def test_contrib_is_graph_mode():
    with behaviour.of_era("contrib"):
        assert not tf.executing_eagerly()
        x = v1.placeholder(tf.float32, [None, 3])
        assert x.shape[1].value == 3
        assert {x: "hashable"}[x] == "hashable"
        assert "Ref" in type(v1.get_variable("v", [2])).__name__
        loop = tf.while_loop(lambda i: i < 3, lambda i: i + 1, [tf.constant(0)])
        types = {op.type for op in v1.get_default_graph().get_operations()}
        assert "Enter" in types
        with v1.Session() as session:
            assert session.run(loop) in (3, [3])


@second_generation
@pytest.mark.parametrize("era", ["v2_0", "v2_2"])
def test_2_eras_are_eager(era):
    with behaviour.of_era(era):
        assert tf.executing_eagerly()
        assert (tf.constant(1) + 1).numpy() == 2


def ways_to_leave_a_mess():
    tf = dropin.top("contrib").compat.v1

    def nothing():
        pass

    def fails():
        raise KeyError("script")

    def exits():
        raise SystemExit(3)

    def session_left_open():
        tf.InteractiveSession()

    def eager():
        tf.enable_eager_execution()

    def graph():
        tf.disable_eager_execution()
        with tf.Graph().as_default():
            tf.constant(1)

    def off():
        tf.disable_v2_behavior()

    def off_and_graph():
        tf.disable_v2_behavior()
        tf.get_default_graph()

    def on():
        tf.enable_v2_behavior()

    def single():
        tf.enable_v2_tensorshape()
        tf.enable_resource_variables()

    def loud():
        tf.logging.set_verbosity(tf.logging.DEBUG)

    return [value for value in locals().values() if value is not tf]


@pytest.mark.parametrize("mess", ways_to_leave_a_mess(), ids=lambda mess: mess.__name__)
@pytest.mark.parametrize("era", ERAS)
def test_all_is_undone(era, mess):
    before = switches()
    try:
        with behaviour.of_era(era):
            mess()
    except BaseException as error:  # noqa: BLE001
        assert type(error) in (KeyError, SystemExit)
    assert switches() == before


@second_generation
def test_tensorflow_2_works_afterwards():
    with behaviour.of_era("contrib"):
        v1.get_variable("w", [2])
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile("adam", "mse")
    model.fit(np.ones([4, 2], np.float32), np.ones([4, 1], np.float32), verbose=0)
    made = []

    @tf.function
    def function(x):
        if not made:
            made.append(tf.Variable(2.0))
        for _ in tf.range(3):
            x += made[0]
        return x

    assert function(tf.constant(1.0)).numpy() == 7.0


def test_the_callers_graph_survives():
    with v1.Graph().as_default() as graph:
        mine = tf.constant(1)
        with behaviour.of_era("contrib"):
            assert v1.get_default_graph() is not graph
            tf.constant(2)
        assert v1.get_default_graph() is graph
        assert graph.get_operations() == [mine.op]


def test_scripts_reset_the_default_graph():
    namespace = dropin.top("contrib")
    for space in (namespace, namespace.compat.v1):
        with behaviour.of_era("contrib"):
            tf.constant(1)
            before = v1.get_default_graph()
            space.reset_default_graph()
            assert v1.get_default_graph() is not before
            assert not v1.get_default_graph().get_operations()
            tf.keras.backend.clear_session()
            tf.constant(1)


def test_a_nested_graph_cannot_be_reset():
    with behaviour.of_era("contrib"), v1.Graph().as_default(), pytest.raises(AssertionError):
        dropin.top("contrib").reset_default_graph()


@second_generation
def test_a_module_that_is_imported_meanwhile_has_tensorflows_function_afterwards(monkeypatch):
    native, imported = v1.reset_default_graph, types.ModuleType("imported_meanwhile")
    with behaviour.of_era("contrib"):
        imported.reset_default_graph = v1.reset_default_graph
        monkeypatch.setitem(sys.modules, imported.__name__, imported)
        assert imported.reset_default_graph is not native
    assert imported.reset_default_graph is native


@second_generation
def test_scripts_enable_eager_execution():
    namespace = dropin.top("contrib")
    with behaviour.of_era("contrib"):
        namespace.enable_eager_execution(config=namespace.ConfigProto())
        assert tf.executing_eagerly()
        assert (tf.constant(1) + 1).numpy() == 2
        with tf.init_scope():
            assert tf.executing_eagerly()
        with pytest.raises(RuntimeError, match="eager"):
            namespace.placeholder(tf.float32)


@second_generation
def test_functions_of_a_graph_script_lift_to_its_graph():
    lifted = []

    def element(x):
        with tf.init_scope():
            lifted.append(v1.get_default_graph())
        return x

    tf.constant(1)  # Eager execution has been used before.
    with behaviour.of_era("contrib"):
        graph = v1.get_default_graph()
        v1.data.Dataset.range(2).map(element)
    assert lifted[-1] is graph


@pytest.mark.skipif(versions.TF2, reason="TensorFlow 2 is eager at any time")
def test_2_eras_need_a_fresh_process_on_tensorflow_1():
    with v1.Graph().as_default():
        tf.constant(1)
        before = switches()
        with pytest.raises(ScriptError, match="python -m tpudist run"):
            with behaviour.of_era("v2_0"):
                raise AssertionError("entered")
        assert switches() == before
