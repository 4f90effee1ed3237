"""What plain TensorFlow fails at too is told, and only that."""

import pytest

from tests.helpers.generations import second_generation
from tpudist.legacy import plain_failures, runner

tf = pytest.importorskip("tensorflow")
keras_packages = pytest.importorskip("tpudist.tfcompat.keras_packages")

CONVOLUTION = """
    import tensorflow as tf

    @tf.function
    def convolution(image):
        image = tf.cast(image, tf.bfloat16)
        return tf.cast(tf.nn.conv2d(image, image, 1, "SAME"), tf.float32)

    convolution(tf.ones([1, 1, 1, 1]))
    """


def natively():
    """What plain TensorFlow raises, None if it can."""
    try:
        with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            image = tf.cast(tf.compat.v1.placeholder_with_default([[[[1.0]]]], None), tf.bfloat16)
            session.run(tf.nn.conv2d(image, image, [1, 1, 1, 1], "SAME"))
    except Exception as error:  # noqa: BLE001
        return error
    return None


@second_generation
def test_a_bfloat16_convolution(script, capsys):
    failed = natively() is not None
    assert runner.run(script(CONVOLUTION), era="2.2") == int(failed)
    assert ("plain TensorFlow" in capsys.readouterr().err) == failed


@pytest.mark.parametrize("fails", [True, False])
@pytest.mark.parametrize(
    "message",
    [
        "Missing 0-th output from {{node train/Conv2D}} [Op:__inference_f_16]",
        "No OpKernel was registered to support Op 'Conv2D' used by {{node Conv2D}} with these "
        "attrs: [T=DT_BFLOAT16, strides=[1, 1, 1, 1]]",
    ],
)
def test_it_is_told_if_it_was_seen(message, fails, monkeypatch):
    monkeypatch.setattr(plain_failures, "_fails", lambda: fails)
    told = plain_failures.explained(ValueError(message))
    assert (told is not None and "plain TensorFlow" in str(told)) == fails


@pytest.mark.parametrize("message", ["Missing 0-th output from {{node MatMul}}", "Conv2D", ""])
def test_what_is_something_else_is_not_tried(message, monkeypatch):
    monkeypatch.setattr(plain_failures, "_fails", None)
    assert plain_failures.explained(ValueError(message)) is None


def test_what_asks_for_the_keras_2_that_is_not_installed_is_told_what_to_type(script, capsys):
    missing = "raise ModuleNotFoundError(\"No module named 'tf_keras'\", name='tf_keras')"
    assert runner.run(script(missing), era="contrib") == 1
    assert 'pip install --no-deps "tf-keras==' in capsys.readouterr().err


def test_other_missing_modules_are_the_scripts(script, capsys):
    assert runner.run(script("import no_such_module"), era="contrib") == 1
    assert "tpudist run:" not in capsys.readouterr().err


OUTSIDE = """
    import tensorflow as tf

    resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="")
    tf.tpu.experimental.initialize_tpu_system(resolver)
    strategy = tf.distribute.experimental.TPUStrategy(resolver)
    outside = tf.Variable(1.0)
    with strategy.scope():
        optimizer = tf.keras.optimizers.SGD(0.1, momentum=MOMENTUM)

    @tf.function
    def step():
        strategy.run(lambda: optimizer.apply_gradients([(tf.constant(1.0), outside)]) and None)

    step()
    """

UNREPLICATED = """
    import tensorflow as tf

    weights = tf.get_variable("weights", initializer=[1.0])
    optimizer = tf.contrib.tpu.CrossShardOptimizer(tf.train.GradientDescentOptimizer(0.5))
    step = optimizer.minimize(weights)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(step)
    """


of_keras_2 = pytest.mark.skipif(
    keras_packages.is_keras_3(), reason="optimizers of Keras 3 say other things"
)


@second_generation
@pytest.mark.parametrize(
    ("text", "era", "what"),
    [
        pytest.param(
            OUTSIDE.replace("MOMENTUM", "0.0"), "2.2", "with strategy.scope()", marks=of_keras_2
        ),
        pytest.param(
            OUTSIDE.replace("MOMENTUM", "0.9"), "2.2", "with strategy.scope()", marks=of_keras_2
        ),
        (UNREPLICATED, "contrib", "the optimizer itself"),
    ],
)
def test_what_tensorflow_says_is_told_with_what_to_type(text, era, what, script, capsys):
    assert runner.run(script(text), era=era, tpu="virtual:2") == 1
    assert "Instead: " + what in capsys.readouterr().err


def test_a_loss_for_each_row_beside_regularizers():
    said = (
        "Shapes must be equal rank, but are 1 and 0\n for '{{node AddN}} = AddN[N=2, T=DT_FLOAT]"
        "(loss/Mul, dense/kernel/Regularizer/mul)' with input shapes: [?], []."
    )
    assert "scale_regularization_loss" in str(plain_failures.explained(ValueError(said)))
    assert plain_failures.explained(ValueError(said.replace("Regularizer", "other"))) is None


ONE_BATCH = """
    import numpy as np
    import tensorflow as tf

    tpu = tf.contrib.cluster_resolver.TPUClusterResolver("virtual:2")
    with tf.contrib.distribute.TPUStrategy(tpu).scope():
        model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))])
        model.compile(tf.train.GradientDescentOptimizer(0.1), "mse")
    model.%s(np.ones([4, 2]), np.ones([4, 1]))
    """


@pytest.mark.skipif(keras_packages.is_keras_3(), reason="Keras 2, tf_keras, is not installed")
@pytest.mark.parametrize("method", ["train_on_batch", "test_on_batch"])
def test_one_batch_in_a_graph(method, script, capsys):
    assert runner.run(script(ONE_BATCH % method), era="contrib") == 1
    error = capsys.readouterr().err
    assert "batch_size=len(x)" in error or "`%s` is not supported" % method in error


PER_REPLICA = """
    import tensorflow as tf

    tpu = tf.distribute.cluster_resolver.TPUClusterResolver("virtual:2")
    tf.tpu.experimental.initialize_tpu_system(tpu)
    strategy = tf.distribute.experimental.TPUStrategy(tpu)

    @tf.function
    def step():
        context = tf.distribute.get_replica_context
        return strategy.run(lambda: context().replica_id_in_sync_group * 2)

    value = step()
    %s
    """


@second_generation
@pytest.mark.parametrize(
    ("use", "instead"),
    [
        ("value.numpy()", "strategy.experimental_local_results(value)"),
        ("value.shape", "strategy.experimental_local_results(value)"),
        ("value[0]", "strategy.experimental_local_results(value)"),
        ("value + 1", "strategy.experimental_local_results(value)"),
        ("float(value)", "strategy.experimental_local_results(value)"),
        ("tf.reduce_mean(value)", "strategy.experimental_local_results(value)"),
        ("'%d' % value", "strategy.experimental_local_results(value)"),
        ("strategy.reduce('SUM', value)", "value, axis=None)"),
        ("strategy.reduce(value, 'SUM', axis=None)", "strategy.reduce('SUM', value, axis=None)"),
    ],
)
def test_a_per_replica_value_as_one_tensor(use, instead, script, capsys):
    assert runner.run(script(PER_REPLICA % use), era="2.2") == 1
    error = capsys.readouterr().err
    assert "Instead: " in error and instead in error.partition("Instead: ")[2], error


@pytest.mark.parametrize(
    ("current", "variables", "instead"),
    [
        ("distribute_lib._DefaultDistributionStrategy", "tpu.TPUStrategy", "model.load_weights"),
        ("tpudist.v2_2.strategy.TPUStrategy", "distribute_lib._Default", "model = ..., optimizer"),
    ],
)
def test_the_scope_that_is_missing_is_named(current, variables, instead):
    told = plain_failures.explained(
        ValueError(
            "Trying to create optimizer slot variable under the scope for tf.distribute.Strategy "
            "(<tensorflow.python.%s object at 0x7f>), which is different from the scope used for "
            "the original variable (<%s object at 0x7f>)." % (current, variables)
        )
    )
    assert instead in told.instead
