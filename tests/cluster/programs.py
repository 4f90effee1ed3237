"""Programs that print losses, for one machine and for a cluster."""

#: The start of code of 2.2, and data.
START = """
import sys
import numpy as np
import tensorflow as tf

tf.random.set_seed(7)
resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="a")
tf.config.experimental_connect_to_cluster(resolver)
topology = tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.experimental.TPUStrategy(resolver)
random = np.random.RandomState(0)
xs = random.rand(96, 5).astype("float32")
ys = (xs @ random.rand(5, 1)).astype("float32")
SUM = tf.distribute.ReduceOp.SUM


def batches(size=16, start=0):
    dataset = tf.data.Dataset.from_tensor_slices((xs, ys)).batch(size).repeat().skip(start)
    return iter(strategy.experimental_distribute_dataset(dataset))
"""

#: A training step with variables of each kind.
STEP = """
with strategy.scope():
    weights = tf.Variable(tf.zeros([5, 1]))
    seen = tf.Variable(
        0.0,
        trainable=False,
        synchronization=tf.VariableSynchronization.ON_READ,
        aggregation=tf.VariableAggregation.SUM,
    )
    step = tf.Variable(0, dtype=tf.int64)
    first = tf.Variable(0.0, aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA)
    optimizer = tf.keras.optimizers.SGD(0.1, 0.9)


def replica(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum((x @ weights - y) ** 2) / 16
    optimizer.apply_gradients(zip(tape.gradient(loss, [weights]), [weights]))
    seen.assign_add(tf.cast(tf.shape(x)[0], tf.float32))
    first.assign(loss)
    return loss


@tf.function
def train(x, y):
    return strategy.reduce(SUM, strategy.run(replica, args=(x, y)), axis=None)
"""

#: Twenty steps of it.
STEPS = (
    START
    + STEP
    + """
iterator = batches()
for _ in range(20):
    print("loss %.9f" % train(*next(iterator)).numpy())
print("seen", seen.numpy())
copies = tf.function(lambda: strategy.run(lambda: first.read_value()))()
print("first", strategy.reduce(SUM, copies, axis=None).numpy())
"""
    + """
@tf.function
def inside():
    return tf.random.uniform([])


def draw():
    context = tf.distribute.get_replica_context()
    before = tf.random.uniform([])
    given = tf.random.uniform([], seed=0)
    context.all_reduce(SUM, before)  # each replica waits here for the others
    after = tf.reduce_sum(tf.nn.dropout(tf.range(20.0), 0.5))
    branch = tf.cond(before > 2, lambda: 0.0, lambda: tf.random.normal([]))
    numbers = tf.stack([before, given, after, branch, inside()])
    return numbers * tf.cast(context.replica_id_in_sync_group + 1, tf.float32)


@tf.function
def draws():
    outside = tf.random.uniform([])
    return outside, strategy.reduce(SUM, strategy.run(draw), axis=None), tf.random.uniform([])


for _ in range(2):
    for numbers in draws():
        for number in numbers.numpy().reshape(-1):
            print("drawn %.9f" % number)


@tf.function
def of_all(batches):
    total = 0.0
    for x in batches:  # the last has rows for some replicas alone
        sums = strategy.run(tf.reduce_sum, args=(x,))
        total += strategy.reduce(SUM, sums, axis=None)
    return total


rows = tf.data.Dataset.from_tensor_slices(xs).batch(22)
print("total %.9f" % (of_all(strategy.experimental_distribute_dataset(rows)).numpy() / 96))
"""
)

#: What replicas compute together in a training step: moments, metrics, gathered and merged values.
TOGETHER = (
    START
    + """
with strategy.scope():
    if hasattr(tf.keras.layers, "experimental"):
        normalize = tf.keras.layers.experimental.SyncBatchNormalization(momentum=0.5)
    else:  # Keras 3
        normalize = tf.keras.layers.BatchNormalization(momentum=0.5, synchronized=True)
    dense = tf.keras.layers.Dense(1, kernel_initializer="zeros")
    start = tf.Variable(np.random.rand(5))  # np.random has no seed
    optimizer = tf.keras.optimizers.Adam(0.05)
    metric = tf.keras.metrics.Mean()
    first = tf.Variable(0.0, aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA)
    mean = tf.Variable(0.0, aggregation=tf.VariableAggregation.MEAN)


def replica(x, y):
    context = tf.distribute.get_replica_context()
    number = tf.cast(context.replica_id_in_sync_group, tf.float32)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum((dense(normalize(x, training=True)) - y) ** 2) / 16
    trained = dense.trainable_variables + normalize.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, trained), trained))
    metric.update_state(loss)
    first.assign(number + 1)
    mean.assign_add(number)
    gathered = context.all_gather(x[:, :1], axis=0)
    merged = context.merge_call(
        lambda strategy, value: strategy.reduce("MEAN", value, axis=None), args=(number,)
    )
    sums = context.all_reduce("SUM", [number, tf.cast(number, tf.int32), tf.reduce_sum(gathered)])
    return loss, sums[0] + merged + tf.cast(sums[1], tf.float32) + sums[2]


@tf.function
def train(x, y):
    loss, other = strategy.run(replica, args=(x, y))
    rows = strategy.reduce("MEAN", strategy.run(lambda x: x[:, 0], args=(x,)), axis=0)
    return strategy.reduce("SUM", loss, axis=None), strategy.reduce("SUM", other, axis=None), rows


iterator = batches()
for _ in range(20):
    loss, other, rows = train(*next(iterator))
    print("loss %.9f" % loss.numpy())
    print("other %.9f" % (other.numpy().sum() / 1000))
    print("rows %.9f" % rows.numpy())
for value in (metric.result(), first, mean, *normalize.non_trainable_variables[0].numpy()):
    print("value %.9f" % tf.convert_to_tensor(value).numpy())
part = strategy.experimental_distribute_values_from_function(
    lambda context: tf.constant(1.0 + context.replica_id_in_sync_group)
)
print("values %.9f" % strategy.reduce("SUM", part, axis=None).numpy())
cores = len(strategy.experimental_local_results(part))
print("[start %d]" % cores, *start.numpy())
"""
)

#: A model of Keras 2 with layers that synchronize, by ``fit``.
KERAS = (
    START
    + """
with strategy.scope():
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Dense(8, activation="relu", input_shape=(5,)),
            tf.keras.layers.BatchNormalization(),
            tf.keras.layers.Dense(1),
        ]
    )
    model.compile(tf.keras.optimizers.Adam(0.01), "mse", metrics=["mae"])
random = np.random.RandomState(1)
model.set_weights([random.rand(*each.shape) for each in model.get_weights()])
dataset = tf.data.Dataset.from_tensor_slices((xs, ys)).batch(16, drop_remainder=True)
history = model.fit(dataset, epochs=4, verbose=0).history
for name in ("loss", "mae"):
    for value in history[name]:
        print(name, "%.9f" % value)
"""
)

#: Embeddings, whose gradients are ``IndexedSlices``, in code of 2.0.
EMBEDDING = (
    START
    + """
with strategy.scope():
    table = tf.Variable(tf.reshape(tf.range(40.0) / 40, [10, 4]))
    optimizer = tf.keras.optimizers.Adagrad(0.1)


def replica(x):
    ids = tf.cast(x[:, :3] * 10, tf.int32)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.reduce_sum(tf.gather(table, ids), 1) ** 2) / 16
    optimizer.apply_gradients([(tape.gradient(loss, table), table)])
    return loss


@tf.function
def train(x):
    losses = strategy.experimental_run_v2(replica, args=(x,))
    return strategy.reduce(SUM, losses, axis=None)


iterator = batches()
for _ in range(20):
    print("loss %.9f" % train(next(iterator)[0]).numpy())
"""
)

#: Towers of 1.11, in eager mode.
TOWERS = """
import numpy as np
import tensorflow as tf

tf.enable_eager_execution()
tf.set_random_seed(7)
resolver = tf.contrib.cluster_resolver.TPUClusterResolver("a")
distribution = tf.contrib.distribute.TPUStrategy(resolver)
random = np.random.RandomState(0)
xs = random.rand(96, 5).astype("float32")
ys = (xs @ random.rand(5, 1)).astype("float32")
with distribution.scope():
    weights = tf.Variable(tf.zeros([5, 1]))
    optimizer = tf.train.MomentumOptimizer(0.05, 0.9)


def dataset_fn():
    return tf.data.Dataset.from_tensor_slices((xs, ys)).repeat().batch(2)


def tower(x, y):
    loss = lambda: tf.losses.mean_squared_error(y, tf.matmul(x, weights))
    optimizer.minimize(loss)
    return loss()


with distribution.scope():
    iterator = distribution.distribute_dataset(dataset_fn).make_one_shot_iterator()
    for _ in range(20):
        losses = distribution.call_for_each_tower(tower, *iterator.get_next())
        mean = distribution.reduce(tf.VariableAggregation.MEAN, losses, "/device:CPU:0")
        print("loss %.9f" % mean.numpy())
    for _ in range(2):
        drawn = distribution.call_for_each_tower(lambda: tf.random_uniform([]))
        print("[drawn]", *(each.numpy() for each in distribution.unwrap(drawn)))
"""

#: A loop of steps of 1.11, in eager mode.
LOOP = (
    TOWERS.split("def tower(")[0]
    + """
def step(context, x, y):
    def tower(x, y):
        noisy = x + 0.1 * tf.random_normal([2, 5])
        loss = lambda: tf.losses.mean_squared_error(y, tf.matmul(noisy, weights))
        optimizer.minimize(loss)
        return loss()

    losses = distribution.call_for_each_tower(tower, x, y)
    context.set_last_step_output("loss", losses, tf.VariableAggregation.MEAN)
    context.set_last_step_output("losses", losses)


with distribution.scope():
    iterator = distribution.distribute_dataset(dataset_fn).make_one_shot_iterator()
    for _ in range(4):
        context = distribution.run_steps_on_dataset(step, iterator, iterations=5)
        print("loss %.9f" % context.last_step_outputs["loss"].numpy())
        print("first %.9f" % context.last_step_outputs["losses"][0].numpy())
    for weight in weights.numpy().reshape(-1):
        print("weight %.9f" % weight)
"""
)

#: Towers and a loop of steps of 1.11 in graphs with Sessions, and what they save.
SESSIONS = (
    TOWERS.split("with distribution")[0].replace("tf.enable_eager_execution()", "import os")
    + """
with distribution.scope():
    weights = tf.get_variable("w", [5, 1], initializer=tf.random_normal_initializer())
    optimizer = tf.train.MomentumOptimizer(0.05, 0.9)
    count = tf.train.get_or_create_global_step()


def dataset_fn():
    return tf.data.Dataset.from_tensor_slices((xs, ys)).repeat().batch(2, drop_remainder=True)


def tower(x, y):
    noisy = x + 0.1 * tf.random_normal([2, 5])
    loss = tf.losses.mean_squared_error(y, tf.matmul(noisy, weights))
    with tf.control_dependencies([optimizer.minimize(loss, count)]):
        return tf.identity(loss) + tf.random_uniform([], seed=3)


def step(context, x, y):
    losses = distribution.call_for_each_tower(tower, x, y)
    context.set_last_step_output("loss", losses, tf.VariableAggregation.MEAN)


with distribution.scope():
    iterator = distribution.distribute_dataset(dataset_fn).make_initializable_iterator()
    losses = distribution.call_for_each_tower(tower, *iterator.get_next())
    mean = distribution.reduce(tf.VariableAggregation.MEAN, losses, "/device:CPU:0")
    mean = distribution.unwrap(mean)[0]
    loop = distribution.run_steps_on_dataset(step, iterator, iterations=5)
    saver = tf.train.Saver()
    with tf.Session() as session:
        session.run([iterator.initializer, tf.global_variables_initializer()])
        for _ in range(10):
            print("loss %.9f" % session.run(mean))
        for _ in range(2):
            print("loss %.9f" % session.run([loop.run_op, loop.last_step_outputs["loss"]])[1])
        print("saved", saver.save(session, "kept/model", count))
        tf.summary.FileWriter("kept/events", session.graph).close()
        for weight in session.run(weights).reshape(-1):
            print("weight %.9f" % weight)
    scaffold = tf.train.Scaffold(local_init_op=iterator.initializer)
    with tf.train.MonitoredTrainingSession(
        checkpoint_dir="monitored" if "TF_CONFIG" in os.environ else "alone",
        hooks=[tf.train.StopAtStepHook(25)],
        scaffold=scaffold,
    ) as session:
        while not session.should_stop():
            print("loss %.9f" % session.run(mean))
"""
)

#: Files of Keras whose names say which worker wrote them.
KERAS_FILES = (
    START
    + """
import json
import os

number = json.loads(os.environ["TF_CONFIG"])["task"]["index"]
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(5,))])
    model.compile("sgd", "mse")
dataset = tf.data.Dataset.from_tensor_slices((xs, ys)).batch(16)
best = tf.keras.callbacks.ModelCheckpoint("best-%d.h5" % number)
model.fit(dataset, verbose=0, callbacks=[best])
model.save("model-%d.h5" % number)
model.save("model-%d.keras" % number)
if not hasattr(tf.keras, "version") or tf.keras.version().startswith("2."):
    model.save("folder-%d" % number)
model.save_weights("kernel-%d.weights.h5" % number)
if number == 0:  # The others may be here before the chief has written it.
    loaded = tf.keras.models.load_model("model-0.h5", compile=False)
    print("sum %.9f" % loaded.get_weights()[0].sum())
"""
)

#: A small encoder of words as BERT is one, by TPUEstimator in loops of five steps.
ESTIMATOR = """
import os

import numpy as np
import tensorflow as tf

FOLDER = "model" + os.environ["TPUDIST_TPU"].replace(":", "-")
WORDS, LENGTH, WIDTH, HEADS = 50, 12, 16, 4


def dense(x, width, name, activation=None):
    start = tf.truncated_normal_initializer(stddev=0.2, seed=3)
    return tf.layers.dense(x, width, activation, kernel_initializer=start, name=name)


def normalized(x):
    mean, variance = tf.nn.moments(x, [-1], keep_dims=True)
    return (x - mean) * tf.rsqrt(variance + 1e-6)


def split(x):
    return tf.transpose(tf.reshape(x, [-1, LENGTH, HEADS, WIDTH // HEADS]), [0, 2, 1, 3])


class DecayingAdam(tf.train.Optimizer):  # as BERT's: its apply_gradients makes variables
    def __init__(self, rate):
        super().__init__(False, "DecayingAdam")
        self._rate = rate

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        updates = []
        for gradient, variable in grads_and_vars:
            gradient = tf.convert_to_tensor(gradient)
            own = variable.name.split(":")[0]
            start = dict(initializer=tf.zeros_initializer(), trainable=False)
            mean = tf.get_variable(own + "/mean", variable.shape, **start)
            square = tf.get_variable(own + "/square", variable.shape, **start)
            next_mean = 0.9 * mean + 0.1 * gradient
            next_square = 0.999 * square + 0.001 * tf.square(gradient)
            step = next_mean / (tf.sqrt(next_square) + 1e-6)
            if not own.endswith("bias"):
                step += 0.01 * variable
            updates += [mean.assign(next_mean), square.assign(next_square)]
            updates.append(variable.assign(variable - self._rate * step))
        return tf.group(*updates, name=name)


def model_fn(features, labels, mode, params):
    start = tf.truncated_normal_initializer(stddev=0.2, seed=3)
    table = tf.get_variable("words", [WORDS, WIDTH], initializer=start)
    x = tf.gather(table, features["ids"]) + tf.get_variable(
        "places", [LENGTH, WIDTH], initializer=start
    )
    for layer in range(2):
        with tf.variable_scope("layer_%d" % layer):
            query, key, value = [split(dense(x, WIDTH, name)) for name in "qkv"]
            scores = tf.nn.softmax(tf.matmul(query, key, transpose_b=True) * 0.5)
            heads = tf.transpose(tf.matmul(scores, value), [0, 2, 1, 3])
            heads = dense(tf.reshape(heads, [-1, LENGTH, WIDTH]), WIDTH, "out")
            x = normalized(x + heads)
            inner = dense(dense(x, 4 * WIDTH, "wide", tf.nn.relu), WIDTH, "narrow")
            x = normalized(x + inner)
    logits = tf.matmul(tf.reshape(x, [-1, WIDTH]), table, transpose_b=True)
    if mode == "infer":
        found = tf.reshape(tf.argmax(logits, -1), [-1, LENGTH])
        return tf.contrib.tpu.TPUEstimatorSpec(mode, predictions={"words": found})
    loss = tf.reduce_mean(
        tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=tf.reshape(labels, [-1]), logits=logits
        )
    )
    optimizer = tf.contrib.tpu.CrossShardOptimizer(DecayingAdam(0.01))
    step = tf.train.get_global_step()
    train_op = optimizer.minimize(loss, step)
    train_op = tf.group(train_op, step.assign(step + 1))
    metrics = (accuracy, [tf.reshape(labels, [-1]), logits])
    return tf.contrib.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op, eval_metrics=metrics)


def accuracy(labels, logits):
    return {"accuracy": tf.metrics.accuracy(labels, tf.argmax(logits, -1))}


def input_fn(params):
    ids = np.random.RandomState(0).randint(WORDS, size=[128, LENGTH]).astype("int32")
    dataset = tf.data.Dataset.from_tensor_slices(({"ids": ids}, (ids * 7 + 1) % WORDS))
    context = params["context"]
    dataset = dataset.shard(context.num_hosts, context.current_host)
    if "once" in params:
        return dataset.batch(params["batch_size"])
    return dataset.repeat().batch(params["batch_size"], drop_remainder=True)


estimator = tf.contrib.tpu.TPUEstimator(
    model_fn,
    config=tf.contrib.tpu.RunConfig(
        cluster=tf.contrib.cluster_resolver.TPUClusterResolver("a"),
        model_dir=FOLDER,
        tpu_config=tf.contrib.tpu.TPUConfig(iterations_per_loop=5),
    ),
    train_batch_size=32,
    eval_batch_size=32,
    predict_batch_size=48,
)
for _ in range(2):
    estimator.train(input_fn, steps=10)
    for name, value in sorted(estimator.evaluate(input_fn, steps=4).items()):
        print(name, "%.9f" % value)
rows = list(estimator.predict(lambda params: input_fn(dict(params, once=True))))
print("predicted %d, sum %d" % (len(rows), sum(row["words"].sum() for row in rows)))
for name in sorted(estimator.get_variable_names()):
    if "/k/bias" not in name:  # its gradient is rounding, and nothing else
        print(name, "%.9f" % np.abs(estimator.get_variable_value(name)).mean())
"""
