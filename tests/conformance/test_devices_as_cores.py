"""What is refused of GPUs and CPUs as cores; `tests.helpers.cores` runs the rest on them."""

import pytest
import tensorflow as tf

from tests.conformance import modes
from tests.examples import running
from tpudist.errors import ArgumentError, TPUNameError
from tpudist.system import cluster
from tpudist.tfcompat import devices, keras_packages, versions


@pytest.mark.skipif(devices.gpus() > 0, reason="there are GPUs")
def test_there_is_no_gpu():
    with pytest.raises(TPUNameError, match="TensorFlow sees none.*cpus:8"):
        cluster.TPUClusterResolver("gpus")


def test_there_are_fewer_gpus(surface):
    with pytest.raises(ArgumentError, match="TensorFlow sees .* GPU.*cpus:64"):
        surface.strategy_class(cluster.TPUClusterResolver("gpus:64"))


@pytest.mark.skipif(not hasattr(tf, "function"), reason="there only a Session divides the CPU")
def test_tensorflow_has_been_used_before():
    assert tf.constant(1.0) is not None
    with pytest.raises(ArgumentError, match="after TensorFlow has been used.*before the first"):
        modes.V2_2.strategy_class(cluster.TPUClusterResolver("cpus:64"))


@pytest.mark.slow
def test_a_session_with_a_configuration_of_its_own_has_the_cores(tmp_path):
    script = tmp_path / "towers.py"
    script.write_text(
        """
import tensorflow as tf

resolver = tf.contrib.cluster_resolver.TPUClusterResolver("a")
strategy = tf.contrib.distribute.TPUStrategy(resolver, steps_per_run=1)


def tower(i):
    with tf.device("/device:TPU:3"):
        four = tf.constant(4.0, name="four")
    return four * tf.cast(i, tf.float32)


with tf.Graph().as_default(), strategy.scope():
    towers = strategy.unwrap(strategy.call_for_each_tower(tower, strategy.worker_device_index))
    with tf.Session(config=tf.ConfigProto()) as session:
        print([float(each) for each in session.run(towers)])
        print(towers[0].graph.get_operation_by_name("four").device)
        print(*(each.device_type for each in session.list_devices() if each.device_type[0] != "X"))
"""
    )
    done = running.python("-m", "tpudist", "run", "--tpu", "cpus:4", str(script), cwd=running.ROOT)
    assert "[0.0, 4.0, 8.0, 12.0]" in done.stdout, done.stderr[-2000:]
    assert "device:CPU:3" in done.stdout
    assert "CPU TPU TPU TPU TPU TPU_SYSTEM" in done.stdout.split("\n")


_TRAINING = """
import tensorflow as tf

rows = tf.range(64.0)  # TensorFlow is used before the TPU is named
resolver = tf.distribute.cluster_resolver.TPUClusterResolver("a")
strategy = tf.distribute.experimental.TPUStrategy(resolver)
with strategy.scope():
    weights = tf.Variable(tf.ones([8, 8]))
    optimizer = tf.keras.optimizers.SGD(0.5)


@tf.function
def step(x):
    def replica(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.nn.softmax(tf.nn.relu(x @ weights)) ** 2 * x)
        optimizer.apply_gradients([(tape.gradient(loss, [weights])[0], weights)])
        return loss

    return strategy.reduce("SUM", strategy.run(replica, args=(x,)), axis=None)


for _ in range(3):
    loss = step(tf.reshape(rows / 64.0, [8, 8]))
print("loss %.5f" % loss.numpy())
"""


@pytest.mark.slow
@pytest.mark.skipif(not versions.HAS_RUN, reason="the program is of 2.2")
@pytest.mark.parametrize("tpu", ["cpus:2", "virtual:2"])
def test_xla_compiles_by_tensorflows_own_switch(tmp_path, monkeypatch, tpu):
    script = tmp_path / "train.py"
    script.write_text(_TRAINING)

    def run():
        done = running.python("-m", "tpudist", "run", "--tpu", tpu, str(script))
        assert done.returncode == 0, done.stderr[-2000:]
        return done

    plain = run()
    monkeypatch.setenv("TF_XLA_FLAGS", "--tf_xla_auto_jit=2 --tf_xla_cpu_global_jit")
    monkeypatch.setenv("TF_CPP_MIN_LOG_LEVEL", "0")
    compiled = run()
    assert "Compiled cluster using XLA" in compiled.stderr
    assert compiled.stdout.split() == plain.stdout.split()


_KERAS_IN_A_GRAPH = """
import numpy as np
import tensorflow as tf

resolver = tf.contrib.cluster_resolver.TPUClusterResolver("a")
tf.contrib.distribute.initialize_tpu_system(resolver)
strategy = tf.contrib.distribute.TPUStrategy(resolver, steps_per_run=2)
random = np.random.RandomState(0)
x = random.rand(64, 6).astype("float32")
y = tf.keras.utils.to_categorical(random.randint(3, size=64), 3)
start = tf.keras.initializers.RandomUniform(seed=3)
with strategy.scope():
    model = tf.keras.models.Sequential()
    model.add(tf.keras.layers.Dense(8, "relu", input_shape=(6,), kernel_initializer=start))
    model.add(tf.keras.layers.BatchNormalization())
    model.add(tf.keras.layers.Dense(3, "softmax", kernel_initializer=start))
    model.compile(tf.train.GradientDescentOptimizer(0.5), "categorical_crossentropy", ["accuracy"])
options = dict(batch_size=16, verbose=0)
history = model.fit(x, y, epochs=3, shuffle=False, validation_data=(x, y), **options).history
print("NUMBERS", *(value for name in sorted(history) for value in history[name]))
print("NUMBERS", *model.evaluate(x, y, **options), *model.predict(x, batch_size=16).ravel())
print("NUMBERS", *(value for weight in model.get_weights() for value in weight.ravel()))
"""


@pytest.mark.slow
@pytest.mark.skipif(keras_packages.is_keras_3(), reason="Keras 3 has no graphs")
def test_keras_in_a_graph_trains_as_on_the_virtual_tpu(tmp_path):
    script = tmp_path / "train.py"
    script.write_text(_KERAS_IN_A_GRAPH)

    def numbers(tpu):
        done = running.python("-m", "tpudist", "run", "--tpu", tpu, str(script))
        assert done.returncode == 0, done.stderr[-2000:]
        lines = [line for line in done.stdout.splitlines() if line.startswith("NUMBERS")]
        return [float(word) for line in lines for word in line.split()[1:]]

    on_cpus = numbers("cpus:4")
    assert len(on_cpus) > 200
    assert on_cpus == pytest.approx(numbers("virtual:4"), abs=1e-5)
