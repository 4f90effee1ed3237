"""A custom loop of TensorFlow 2.2 with run, and replicas spread over logical devices."""

import tpudist.v2_2.tensorflow as tf
from tpudist.v2_2.tensorflow.keras import layers, models

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="")
tf.config.experimental_connect_to_cluster(resolver)
topology = tf.tpu.experimental.initialize_tpu_system(resolver)
print("All devices: ", tf.config.list_logical_devices("TPU"), topology.mesh_shape)
assignment = tf.tpu.experimental.DeviceAssignment.build(
    topology, computation_shape=[1, 1, 1, 2], num_replicas=4
)
strategy = tf.distribute.experimental.TPUStrategy(resolver, device_assignment=assignment)
policy = tf.keras.mixed_precision.experimental.Policy("mixed_bfloat16")
tf.keras.mixed_precision.experimental.set_policy(policy)


def create_model():
    return models.Sequential(
        [
            layers.Conv2D(256, 3, activation="relu", input_shape=(28, 28, 1)),
            layers.Flatten(),
            layers.Dense(10),
        ]
    )


def dataset_fn(context):
    batch_size = context.get_per_replica_batch_size(200)
    dataset = tf.data.Dataset.range(1000).shard(
        context.num_input_pipelines, context.input_pipeline_id
    )
    dataset = dataset.map(lambda x: (tf.ones([28, 28, 1]), x % 10), tf.data.experimental.AUTOTUNE)
    return dataset.repeat().batch(batch_size, drop_remainder=True).prefetch(2)


options = tf.distribute.RunOptions(experimental_enable_dynamic_batch_size=False)
per_replica_dataset = strategy.experimental_distribute_datasets_from_function(dataset_fn)
with strategy.scope():
    model = create_model()
    optimizer = tf.keras.optimizers.SGD(tf.keras.experimental.CosineDecay(0.1, 100), momentum=0.9)
    training_loss = tf.keras.metrics.Mean("training_loss", dtype=tf.float32)
    averages = tf.Variable(
        tf.zeros([10]),
        synchronization=tf.VariableSynchronization.ON_READ,
        aggregation=tf.VariableAggregation.MEAN,
    )


@tf.function
def train_multiple_steps(iterator, steps):
    def step_fn(inputs):
        images, labels = inputs
        images = strategy.experimental_split_to_logical_devices(images, [1, 1, 2, 1])
        kernel = strategy.experimental_replicate_to_logical_devices(tf.ones([2, 2]))
        with tf.GradientTape() as tape:
            logits = model(images, training=True)
            logits = strategy.experimental_assign_to_logical_device(logits, 0)
            loss = tf.reduce_mean(
                tf.keras.losses.sparse_categorical_crossentropy(labels, logits, from_logits=True)
            )
            loss = loss / strategy.num_replicas_in_sync + 0.0 * tf.reduce_sum(kernel)
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(list(zip(grads, model.trainable_variables)))
        training_loss.update_state(loss * strategy.num_replicas_in_sync)
        averages.assign_add(tf.reduce_mean(tf.cast(logits, tf.float32), 0))
        return loss

    for _ in tf.range(steps):
        strategy.run(step_fn, args=(next(iterator),), options=options)


def merge_fn(distribution, value):
    return distribution.extended.reduce_to(tf.distribute.ReduceOp.SUM, value, destinations="/cpu:0")


@tf.function
def merged():
    def replica_fn():
        context = tf.distribute.get_replica_context()
        assert tf.distribute.in_cross_replica_context() is False and tf.distribute.has_strategy()
        return context.merge_call(merge_fn, args=(tf.constant(1.0),))

    return strategy.run(replica_fn)


train_iterator = iter(per_replica_dataset)
train_multiple_steps(train_iterator, tf.convert_to_tensor(100))
values = strategy.experimental_distribute_values_from_function(
    lambda ctx: tf.constant(ctx.replica_id_in_sync_group)
)
local = strategy.experimental_local_results(strategy.run(lambda x: x, args=(values,)))
print(round(float(training_loss.result()), 4), [each.numpy() for each in local])
mean = strategy.reduce(tf.distribute.ReduceOp.MEAN, local, axis=0)
if isinstance(strategy, tf.distribute.experimental.TPUStrategy):
    print(strategy.extended.num_hosts, strategy.extended.num_replicas_per_host, mean)
print(isinstance(strategy, tf.distribute.Strategy), merged().numpy(), tf.__version__)
