"""A custom loop of TensorFlow 2.0 with experimental_run_v2."""

import time

import numpy as np

from tpudist.v2_0 import tensorflow as tf

flags = tf.compat.v1.flags
flags.DEFINE_string("tpu", "", "Name of the TPU.")
resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="grpc://10.0.0.2:8470")
tf.config.experimental_connect_to_host(resolver.master())
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.experimental.TPUStrategy(resolver)
print(f"Number of devices: {strategy.num_replicas_in_sync}")
BATCH_SIZE_PER_REPLICA = 64
GLOBAL_BATCH_SIZE = BATCH_SIZE_PER_REPLICA * strategy.num_replicas_in_sync

fashion_mnist = tf.keras.datasets.fashion_mnist
(train_images, train_labels), (test_images, test_labels) = fashion_mnist.load_data()
train_images = train_images[..., None] / np.float32(255)
train_dataset = tf.data.Dataset.from_tensor_slices((train_images, train_labels))
train_dataset = train_dataset.shuffle(1000).batch(GLOBAL_BATCH_SIZE, drop_remainder=True)
train_dist_dataset = strategy.experimental_distribute_dataset(train_dataset)
numpy_dataset = strategy.experimental_make_numpy_dataset((train_images, train_labels))


class Model(tf.keras.Model):
    def __init__(self, units=10, **kwargs):
        super().__init__(**kwargs)
        self.flatten = tf.keras.layers.Flatten()
        self.dense = tf.keras.layers.Dense(units, kernel_regularizer=tf.keras.regularizers.l2(1e-4))

    def call(self, inputs, training=None):
        return self.dense(self.flatten(inputs))


class Scale(tf.keras.layers.Layer):
    def build(self, input_shape):
        self.scale = self.add_weight("scale", shape=[1], initializer="ones", trainable=True)
        super().build(input_shape)

    def call(self, inputs):
        return inputs * self.scale


class Warmup(tf.keras.optimizers.schedules.LearningRateSchedule):
    def __call__(self, step):
        return 1e-3 * tf.minimum(1.0, tf.cast(step, tf.float32) / 100.0)


with strategy.scope():
    model = Model()
    optimizer = tf.keras.optimizers.Adam(Warmup())
    checkpoint = tf.train.Checkpoint(optimizer=optimizer, model=model)
    manager = tf.train.CheckpointManager(checkpoint, "checkpoints", max_to_keep=3)
    loss_object = tf.keras.losses.SparseCategoricalCrossentropy(
        from_logits=True, reduction=tf.keras.losses.Reduction.NONE
    )
    train_accuracy = tf.keras.metrics.SparseCategoricalAccuracy(name="train_accuracy")
    training_loss = tf.keras.metrics.Mean("training_loss", dtype=tf.float32)
    step_counter = tf.Variable(0, dtype=tf.int64, trainable=False)


def train_step(inputs):
    images, labels = inputs
    with tf.GradientTape() as tape:
        predictions = model(images, training=True)
        per_example = loss_object(labels, predictions)
        loss = tf.nn.compute_average_loss(per_example, global_batch_size=GLOBAL_BATCH_SIZE)
        loss += tf.nn.scale_regularization_loss(tf.add_n(model.losses))
    gradients = tape.gradient(loss, model.trainable_variables)
    gradients, _ = tf.clip_by_global_norm(gradients, 1.0)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    train_accuracy.update_state(labels, predictions)
    context = tf.distribute.get_replica_context()
    total = context.all_reduce(tf.distribute.ReduceOp.SUM, loss)
    print(context.replica_id_in_sync_group, context.num_replicas_in_sync)
    training_loss.update_state(total)
    return loss


@tf.function
def distributed_train_step(dataset_inputs):
    per_replica_losses = strategy.experimental_run_v2(train_step, args=(dataset_inputs,))
    return strategy.reduce(tf.distribute.ReduceOp.SUM, per_replica_losses, axis=None)


@tf.function(input_signature=[tf.TensorSpec([None, 28, 28, 1], tf.float32)])
def serve(images):
    return tf.argmax(model(images), -1)


@tf.function
def train_epoch(iterator):
    total = 0.0
    for _ in tf.range(10):
        total += distributed_train_step(next(iterator))
    return total


def main():
    if manager.latest_checkpoint:
        checkpoint.restore(manager.latest_checkpoint)
    writer = tf.summary.create_file_writer("logs")
    for epoch in range(10):
        start, total_loss, num_batches = time.time(), 0.0, 0
        for x in train_dist_dataset:
            total_loss += distributed_train_step(x)
            num_batches += 1
        template = "Epoch {}, Loss: {}, Accuracy: {}"
        print(template.format(epoch + 1, total_loss / num_batches, train_accuracy.result() * 100))
        with writer.as_default():
            tf.summary.scalar("loss", float(training_loss.result()), step=optimizer.iterations)
        train_accuracy.reset_states()
        manager.save(checkpoint_number=epoch)
        print(time.time() - start)
    values = strategy.experimental_local_results(train_epoch(iter(train_dist_dataset)))
    print(values[0].numpy())
    tf.saved_model.save(model, "saved", signatures={"serve": serve})


if __name__ == "__main__":
    main()
