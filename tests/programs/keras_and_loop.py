# A program of 2019: Keras' fit, then a loop of one's own on the same model, and fit again.
import json
import sys

import numpy as np
import tensorflow as tf

BATCH = 16


def dataset_fn():
    rng = np.random.RandomState(0)
    x = rng.rand(64, 3).astype(np.float32)
    y = x.dot(np.array([[1.0], [-2.0], [3.0]], np.float32))
    return tf.data.Dataset.from_tensor_slices((x, y)).repeat()


def main():
    resolver = tf.contrib.cluster_resolver.TPUClusterResolver(sys.argv[1])
    tf.contrib.distribute.initialize_tpu_system(resolver)
    strategy = tf.contrib.distribute.TPUStrategy(resolver)
    with strategy.scope():
        inputs = tf.keras.layers.Input(shape=(3,))
        outputs = tf.keras.layers.Dense(1, kernel_initializer="zeros")(inputs)
        model = tf.keras.Model(inputs, outputs)
        model.compile(tf.keras.optimizers.SGD(0.1), loss="mse")
        optimizer = tf.train.GradientDescentOptimizer(0.1)
    batches = dataset_fn().batch(BATCH, drop_remainder=True)
    before = model.fit(batches, epochs=1, steps_per_epoch=4, verbose=0).history["loss"]

    def step_fn(ctx, features, labels):
        def tower(features, labels):
            loss = tf.reduce_mean(tf.square(model(features) - labels))
            with tf.control_dependencies([optimizer.minimize(loss)]):
                return tf.identity(loss)

        losses = strategy.call_for_each_tower(tower, features, labels)
        ctx.set_last_step_output("loss", losses, tf.VariableAggregation.MEAN)

    with strategy.scope():
        each = BATCH // strategy.num_towers
        iterator = strategy.distribute_dataset(
            lambda: dataset_fn().batch(each, drop_remainder=True)
        ).make_initializable_iterator()
        session = tf.keras.backend.get_session()
        session.run(iterator.initializer)
        ran = strategy.run_steps_on_dataset(
            step_fn, iterator, iterations=2, initial_loop_values={"loss": tf.constant(0.0)}
        )
        losses = [session.run([ran.run_op, ran.last_step_outputs["loss"]])[1] for _ in range(2)]
    middle = model.get_weights()
    after = model.fit(batches, epochs=1, steps_per_epoch=4, verbose=0).history["loss"]
    found = {
        "middle": [w.tolist() for w in middle],
        "weights": [w.tolist() for w in model.get_weights()],
        "losses": [float(loss) for loss in losses],
        "fit": [float(loss) for loss in before + after],
    }
    print("RESULT " + json.dumps(found))


if __name__ == "__main__":
    main()
