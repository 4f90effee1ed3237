"""What Keras 3 refuses is told where it stands, and nothing that it takes."""

import pytest

from tests.tools.migrate import harness
from tpudist import surfaces

#: Lines of a file; those that end with # are told.
LAYER = """import tensorflow as tf
from tensorflow.keras import layers, backend as K
class A(layers.Layer):
    def build(self, shape):
        self.u = self.add_weight("w", shape=(3,))  #
        self.v = self.add_weight(name="w", shape=(3,))
        self.w = self.add_weight(name="w", shape=(3,), partitioner=None)  #
    def call(self, x):
        self.add_update(1)  #
        self.add_loss(x, inputs=x)  #
        self.add_loss(x)
        return x
layers.BatchNormalization(fused=True)  #
layers.BatchNormalization(axis=1, momentum=0.9)
layers.LSTM(3, time_major=True)  #
layers.Dense(3, batch_input_shape=(1, 2))  #
layers.InputLayer(batch_input_shape=(1, 2))
layers.Embedding(3, 4, input_length=3, weights=[w])
layers.Dense(3).get_output_at(0)  #
x.get_output_at(0), y.input_shape  #
"""
TRAINING = """import tensorflow as tf
from tensorflow.keras import backend as K
model, optimizer = tf.keras.Sequential(), tf.keras.optimizers.SGD(0.1)
tf.keras.callbacks.ModelCheckpoint("a.keras")
tf.keras.callbacks.ModelCheckpoint("a.keras", period=3)  #
tf.keras.callbacks.ModelCheckpoint("a")  #
tf.keras.callbacks.ModelCheckpoint(path)
tf.keras.callbacks.ModelCheckpoint("a.h5", save_weights_only=True)  #
tf.keras.callbacks.ModelCheckpoint("a.weights.h5", save_weights_only=True)
tf.keras.callbacks.ModelCheckpoint("a.h5", save_weights_only=flag)
tf.keras.callbacks.ModelCheckpoint(filepath=join(d, "a-{epoch}"), save_weights_only=True)  #
tf.keras.callbacks.TensorBoard("x", write_grads=True)  #
tf.keras.callbacks.TensorBoard("x", batch_size=3)  #
tf.keras.callbacks.TensorBoard("x", histogram_freq=1)
tf.keras.optimizers.Adam(epsilon=None)  #
tf.keras.optimizers.Adam(epsilon=1e-7)
K.set_value(model.optimizer.lr, 0.1)  #
K.set_value(beta, 0.1)
print(args.lr, optimizer.learning_rate)
model.fit(x, y, workers=3)  #
model.fit(x, y, batch_size=3)
model.predict(x, use_multiprocessing=True)  #
model.compile("sgd", target_tensors=[t])  #
model.train_on_batch(x, y, reset_metrics=False)  #
model.save("x")  #
model.save("x.h5"), model.save(path), model.save("%s" % x), model.save("{}".format(x))
model.save(path, save_format="tf")  #
model.save(path, save_format="h5")
model.save_weights("x.h5")  #
model.save_weights(f"{x}.h5")  #
model.save_weights(d + "/a.h5")  #
model.save_weights("x-%s" % 3), model.save_weights("x.weights.h5"), model.save_weights(f"a.{x}")
def train(loss, v):
    opt = tf.keras.optimizers.Adam()
    opt.minimize(loss, v)  #
    tf.keras.optimizers.SGD(0.1).minimize(loss, v)  #
    tf.compat.v1.train.AdamOptimizer(0.1).minimize(loss)
    other.minimize(loss)
    opt.apply_gradients(z, experimental_aggregate_gradients=False)  #
def reset(metric, lstm, env):
    spec.to_yaml(), batch.add_update(3)
    metric.reset_states()
    lstm.reset_states(), env.reset_states(), self.reset_states(), other.reset_states()
reset(tf.keras.metrics.Mean(), tf.keras.layers.SimpleRNN(3), make())
print(model.metrics_names)  #
print(optimizer.get_weights(), other.get_weights(), model.get_weights())  #
for metric in model.metrics:
    metric.reset_states()
class C(tf.keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs):
        self.model.save("x")  #
ending = join("a", "b-{epoch}")
tf.keras.callbacks.ModelCheckpoint(ending)  #
tf.saved_model.save(model, "x"), np.save("x", a), pool.map(f, workers=3), tf.io.foo(fused=True)
"""
ARGUMENTS = """import tensorflow as tf
from tensorflow.keras import initializers, layers, models
tf.keras.initializers.Zeros(dtype=tf.float32), tf.zeros(3, dtype=tf.float32)  #
initializers.glorot_uniform(seed=1, dtype="float32")  #
tf.initializers.RandomNormal(dtype=tf.float32)  #
tf.compat.v1.initializers.zeros(dtype=tf.float32), tf.zeros(3, dtype=tf.float32)
layers.Dense(3, weights=[w])  #
layers.Embedding(3, 4, weights=[w]), tf.keras.applications.ResNet50(weights=None), Own(weights=1)
opt = tf.keras.optimizers.SGD()
opt.apply_gradients(zip(g, v), name="x")  #
old = tf.compat.v1.train.AdamOptimizer(0.1)
old.apply_gradients(z, name="x"), other.apply_gradients(z, step, name="x")
other.apply_gradients(z, global_step=step, name="x"), other.apply_gradients(z)
other.apply_gradients(z, name="x")
def train(o, old, own):
    o.apply_gradients(z, name="x")  #
    old.apply_gradients(z, name="x")
    own.apply_gradients(z, name="x")
class Own(tf.keras.optimizers.Adam):
    def apply_gradients(self, g, name=None):
        return super().apply_gradients(g, name=name)
train(tf.keras.optimizers.Adam(), tf.compat.v1.train.AdamOptimizer(1), Own())  #
layer = layers.Dense(3)
layer.output_shape  #
x.output_shape, tf.keras.Sequential().output_shape
model = models.Sequential([layer])
model.layers[-1].output_shape  #
other.layers[0].output_shape, model.input_shape
layers.Dense(3, name="a/b")  #
layers.Dense(3, activation="hard_sigmoid")  #
layers.ConvLSTM2D(3, 3)  #
"""
IN_FUNCTIONS = """import tensorflow as tf
from tensorflow.keras import initializers, layers
def a():
    return initializers.zeros(dtype="float32")  #
def b():
    return layers.Dense(3, weights=[w])  #
def c():
    layer = layers.Dense(3)
    return layer.output_shape  #
class D:
    def e(self, g):
        opt = tf.keras.optimizers.SGD()
        opt.apply_gradients(g, name="x")  #
        return self.output_shape, tf.zeros(3, dtype=tf.float32)
"""
RENAMED = """import tensorflow as tf; from tensorflow import keras
from tensorflow.keras.regularizers import l2
keras.Model(input=x, output=y)
keras.models.Model(inputs=x, output=y)
l2(l=0.1), keras.regularizers.L1(l=0.1), keras.regularizers.l1_l2(0.1)
keras.Input((3,), 2, "x"), keras.layers.AveragePooling2D()
keras.losses.BinaryCrossentropy()([0.0], [0.5]), keras.Sequential().fit([[1.0]], y)
keras.optimizers.SGD().lr, keras.optimizers.SGD().variables()
keras.Sequential().compile("sgd", "mse", ["acc"])
class M(keras.metrics.Metric):
    def __init__(self):
        self.n = self.add_weight("n", initializer="zeros")
"""
OWN = """import tensorflow as tf
from tensorflow import keras
class Opt:
    def __init__(self, lr):
        self.lr = lr
    def minimize(self, f):
        return f
class Model:
    def fit(self, x, workers=3):
        return 1
    def save(self, x):
        return 1
    def save_weights(self, p):
        return 1
    def reset_states(self):
        return 1
    def add_update(self):
        return 1
optimizer, model = Opt(3), Model()
optimizer.lr, optimizer.minimize(3)
model.fit(3, workers=3), model.save("x"), model.save_weights("x"), model.reset_states()
model.add_update()
tf.train.Checkpoint().save("model"), checkpoint.save("x")
graph.add_weight("x", 3), args.lr, x.lr
"""
GENSIM = "from tensorflow import keras\nfrom gensim.models import Word2Vec\nmodel.save('a')\n"
NO_KERAS = "import tensorflow as tf\nmodel.fit(x, workers=3)\nmodel.save_weights('a')\n"
ROWS = """import tensorflow as tf
model = tf.keras.Sequential([tf.keras.layers.Embedding(3, 2)])
model.compile("sgd")
model.compile("adam")  #
tf.keras.optimizers.SGD(0.1)
tf.keras.optimizers.SGD(0.1, momentum=0.9)  #
tf.keras.optimizers.Adam()  #
"""
SYMBOLIC = """import tensorflow as tf
from tensorflow.keras import layers, backend as K
class Own(layers.Layer):
    def call(self, x):
        self.add_loss(tf.reduce_sum(x))
        return tf.square(x)
def block(x, n):
    for _ in range(n):
        x = layers.Dense(3)(x)
    return x + 1.0
i = tf.keras.Input((3,))
o = block(i, 2)
tf.square(o[:, 0])  #
K.mean(o)  #
tf.concat([o, o], axis=1)  #
o.get_shape()  #
K.int_shape(o), layers.add([o, o]), Own()(o), layers.Lambda(lambda t: tf.square(t))(o)
m = tf.keras.Model(i, Own()(o))
m.add_loss(o)  #
tf.square(m.predict(x)), tf.square(m(x)), m.add_loss(lambda: 3)
"""
FILES = {
    "a layer": LAYER,
    "arguments": ARGUMENTS,
    "in functions": IN_FUNCTIONS,
    "training": TRAINING,
    "own": OWN,
    "gensim": GENSIM,
    "other": NO_KERAS,
    "symbolic": SYMBOLIC,
    "rows": ROWS,
}


@pytest.mark.parametrize("name", sorted(FILES))
def test_what_keras_3_refuses_is_told(tmp_path, name):
    text = FILES[name]
    harness.put(tmp_path, {"a.py": text})
    found = harness.results(tmp_path, "latest")
    left = found["a.py"].left if found else []
    told = {use.line for use in left}
    assert told == {number for number, line in enumerate(text.split("\n"), 1) if line[-1:] == "#"}


def test_an_argument_of_another_name_is_renamed(tmp_path):
    harness.put(tmp_path, {"a.py": RENAMED})
    found = harness.results(tmp_path, "latest")["a.py"]
    lines = found.after.decode().split("\n")
    assert not found.left and lines[2:9] == [
        "keras.Model(inputs=x, outputs=y)",
        "keras.models.Model(inputs=x, outputs=y)",
        "l2(l2=0.1), keras.regularizers.L1(l1=0.1), keras.regularizers.l1_l2(0.1, l2=0.01)",
        'keras.Input((3,), 2, name="x"), keras.layers.AveragePooling2D(pool_size=(2, 2))',
        "keras.losses.BinaryCrossentropy()(tf.constant([0.0]), tf.constant([0.5])), "
        "keras.Sequential().fit(tf.constant([[1.0]]), y)",
        "keras.optimizers.SGD().learning_rate, keras.optimizers.SGD().variables",
        'keras.Sequential().compile("sgd", "mse", metrics=["acc"])',
    ]
    assert lines[-2].endswith('self.add_weight(name="n", initializer="zeros")')


def test_what_keras_3_refuses_is_there_in_2_2(tmp_path):
    harness.put(tmp_path, {"a.py": LAYER, "b.py": TRAINING})
    left = [each for found in harness.results(tmp_path, "2.2").values() for each in found.left]
    assert not [each for each in left if each.rule.startswith("keras")]


@pytest.fixture(name="tf")
def _tf():
    pytest.importorskip("keras", minversion="3")
    return pytest.importorskip("tensorflow", minversion="2.16")


#: {what is called: its arguments besides the one that is refused}.
_GIVEN = {"keras.callbacks.ModelCheckpoint": ("a.keras",), "keras.callbacks.TensorBoard": ("x",)}
_GIVEN["keras.layers.RNN"] = ([],)
_GIVEN.update(dict.fromkeys(["keras.layers.GRU", "keras.layers.LSTM"], (3,)))
_GIVEN["keras.layers.SimpleRNN"] = (3,)


@pytest.mark.parametrize(
    "name", sorted(each for each in surfaces.KERAS_ARGUMENTS if each[0] != ".")
)
def test_a_class_refuses_what_is_told(tf, name):
    made = tf
    for word in name.split("."):
        made = getattr(made, word)
    for argument in surfaces.KERAS_ARGUMENTS[name]:
        word, _, value = argument.partition("=")
        if not value:
            with pytest.raises((TypeError, ValueError)):
                made(*_GIVEN.get(name, ()), **{word: True})
        elif not name.startswith("keras.optimizers"):
            with pytest.raises((TypeError, ValueError)):
                made(**{word: eval(value)})


@pytest.mark.parametrize(
    "name", sorted(each for each in surfaces.KERAS_ARGUMENTS if each[0] == ".")
)
def test_a_method_refuses_what_is_told(tf, name, tmp_path):
    inputs = tf.keras.Input((2,))
    model = tf.keras.Model(inputs, tf.keras.layers.Dense(1)(inputs))
    model.compile("sgd", "mse")
    x, y = tf.zeros((2, 2)), tf.zeros((2, 1))
    calls = {
        ".adapt": (tf.keras.layers.Discretization(num_bins=2), [x]),
        ".add_loss": (model.layers[1], [y]),
        ".add_weight": (model.layers[1], []),
        ".apply_gradients": (model.optimizer, [[(tf.constant(1.0), tf.Variable(1.0))]]),
        ".compile": (model, ["sgd", "mse"]),
        ".predict": (model, [x]),
        ".save": (model, [str(tmp_path / "a")]),
        ".save_weights": (model, [str(tmp_path / "a.weights.h5")]),
    }
    owner, given = calls.get(name, (model, [x, y]))
    for argument in surfaces.KERAS_ARGUMENTS[name]:
        word, _, value = argument.partition("=")
        with pytest.raises((TypeError, ValueError)):
            getattr(owner, name[1:])(*given, **{word: eval(value or "1")})


def test_no_object_of_keras_3_has_what_is_told(tf):
    inputs = tf.keras.Input((2,))
    layer = tf.keras.layers.Dense(1)
    objects = [tf.keras.Model(inputs, layer(inputs)), layer, tf.keras.metrics.Mean()]
    objects = {"model": objects[0], "layer": layer, "metric": objects[2]}
    objects["keras_optimizer"] = tf.keras.optimizers.SGD(0.1)
    raising = ("metrics_names", "add_metric", "set_weights")
    objects["keras_tensor"] = inputs
    for kind, name in surfaces.KERAS_MEMBERS:
        assert name in raising or not hasattr(objects[kind], name), name
    optimizer = tf.keras.optimizers.SGD(0.1)
    assert not hasattr(optimizer, "lr") and not hasattr(optimizer, "minimize")


def test_keras_3_refuses_the_paths_and_places_that_are_told(tf, tmp_path):
    inputs = tf.keras.Input((2,))
    layer = tf.keras.layers.Dense(1)
    model = tf.keras.Model(inputs, layer(inputs))
    model.compile("sgd", "mse")
    for call in [
        lambda: model.save(str(tmp_path / "a")),
        lambda: model.save_weights(str(tmp_path / "a.h5")),
        lambda: tf.keras.callbacks.ModelCheckpoint("a"),
        lambda: tf.keras.callbacks.ModelCheckpoint("a.h5", save_weights_only=True),
        lambda: layer.add_weight("a", shape=(1,)),
        lambda: tf.keras.backend.set_value(model.optimizer.learning_rate, 0.1),
        lambda: tf.keras.layers.Dense(3, batch_input_shape=(1, 2)),
        lambda: tf.keras.layers.Dense(3, weights=[1]),
        lambda: tf.keras.layers.LSTM(3, weights=[1]),
        lambda: tf.initializers.Zeros(dtype=tf.float32),
        lambda: tf.keras.Model(input=inputs, output=inputs),
        lambda: tf.keras.regularizers.l2(l=0.1),
        lambda: model.optimizer.apply_gradients([(1.0, model.weights[0])], name="x"),
        lambda: tf.keras.regularizers.L1(l=0.1),
        lambda: layer.output_shape,
        lambda: model.layers[0].input_shape,
        lambda: model.layers[-1].output_shape,
    ]:
        with pytest.raises((TypeError, ValueError, AttributeError)):
            call()


@pytest.mark.slow
def test_each_difference_of_keras_3_has_a_rule_or_a_reason():
    import sys

    from compat.make import keras_3

    pytest.importorskip("tensorflow", minversion="2.21")
    pytest.importorskip("tf_keras")
    found = keras_3.differences(
        [keras_3.read(sys.executable, "1")], keras_3.read(sys.executable, "0")
    )
    assert not [(each.of, each.name) for each in found if not each.answer()]
