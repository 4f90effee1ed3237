"""A program that prints what comes back to Python: values of all replicas, on every worker."""

from tests.cluster.programs import START

#: What comes back to Python: rows of all replicas, on every worker.
RESULTS = (
    START
    + """
from tpudist.v2_2 import tensorflow as tf2

with strategy.scope():
    model = tf2.keras.Sequential(
        [tf2.keras.layers.Dense(2, kernel_initializer="ones", input_shape=(5,))]
    )
    model.compile("sgd", "mse", metrics=["mae"])


def show(name, value):
    value = np.array(value, np.float64)
    print(name, "rows %d" % len(value))
    print(name, "%.9f" % (value.reshape([len(value), -1]).sum(1) * np.arange(len(value))).mean())


show("predict", model.predict(xs[:50], batch_size=16, verbose=0))
show("few", model.predict(xs[:5], batch_size=16, verbose=0))
show("dataset", model.predict(tf.data.Dataset.from_tensor_slices(xs[:37]).batch(16), verbose=0))
show("on a batch", model.predict_on_batch(xs[:16]))
show("evaluate", model.evaluate(xs[:50], ys[:50], batch_size=16, verbose=0))
iterator = batches()
x, y = next(iterator)


@tf.function
def several(x):
    number = tf.cast(tf.distribute.get_replica_context().replica_id_in_sync_group, tf.int64)
    return {"number": number, "rows": x[: number + 1], "even": number % 2 == 0}


results = strategy.run(several, args=(x,))  # a function of TensorFlow's
for name in ("number", "even"):
    show(name, [part.numpy() for part in strategy.experimental_local_results(results[name])])
show("uneven", [len(part) for part in strategy.experimental_local_results(results["rows"])])
parts = [part.numpy() for part in strategy.experimental_local_results(x)]
show("input", np.sort(np.concatenate(parts), axis=0))  # hosts share out a batch in their own order
values = strategy.experimental_distribute_values_from_function(lambda c: c.replica_id_in_sync_group)
show("values", strategy.experimental_local_results(values))
arrays = strategy.experimental_distribute_values_from_function(
    lambda c: np.full([3], c.replica_id_in_sync_group, np.float32)
)
show("arrays", np.stack(strategy.experimental_local_results(arrays)))


def local_of_all(strategy, value):
    return tf.add_n(strategy.experimental_local_results(value))


@tf.function
def meets(x):
    def replica(x):
        context = tf.distribute.get_replica_context()
        total = context.merge_call(local_of_all, args=(tf.reduce_sum(x),))
        return context.all_reduce("SUM", total)

    return strategy.run(replica, args=(x,))


merged = strategy.experimental_local_results(meets(x))
show("merged", [part.numpy() > 0 for part in merged])
"""
)

#: What is saved by all, and then read: the chief writes late.
READS = (
    START
    + """
import json, os, time

chief = not json.loads(os.environ.get("TF_CONFIG", "{}")).get("task", {}).get("index", 0)


def saved(name, save):
    if chief:
        time.sleep(2)
    weights.assign_add(tf.ones([5, 1]))
    path = save()
    value = weights.numpy().sum()
    weights.assign(tf.zeros([5, 1]))
    print(name, "%.9f" % value)
    return path


with strategy.scope():
    weights = tf.Variable(tf.zeros([5, 1]))
    layer = tf.keras.layers.Dense(1, use_bias=False, input_shape=(5,))
    model = tf.keras.Sequential([layer])
checkpoint = tf.train.Checkpoint(weights=weights)
manager = tf.train.CheckpointManager(checkpoint, "kept", 1)
for step in (1, 2):
    path = saved("saved", manager.save)
    assert path == tf.train.latest_checkpoint("kept"), (path, tf.train.latest_checkpoint("kept"))
    checkpoint.restore(path)
    print("restored %.9f" % weights.numpy().sum())
for step in (1, 2):
    layer.set_weights([np.full([5, 1], step, "float32")])
    saved("weights", lambda: model.save_weights("best.weights.h5"))
    layer.set_weights([np.zeros([5, 1], "float32")])
    model.load_weights("best.weights.h5")
    print("loaded %.9f" % layer.get_weights()[0].sum())
saved("model", lambda: tf.saved_model.save(tf.Module(), "exported"))
tf.saved_model.load("exported")
if not hasattr(tf.keras, "version") or tf.keras.version().startswith("2."):
    saved("folder", lambda: model.save("folder"))
    print("folder %.9f" % tf.keras.models.load_model("folder").get_weights()[0].sum())
rows = tf.data.Dataset.range(20).cache("cached").batch(8)
total = sum(int(tf.reduce_sum(x)) for x in rows for _ in range(2))
print("cached %d" % total)
"""
)
