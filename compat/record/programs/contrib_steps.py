"""contrib: run_steps_on_dataset trains a line with three optimizers."""

import numpy as np

ERA = "contrib"


def main(tf, strategy, run, show):
    for name, optimizer in (
        ("descent", tf.train.GradientDescentOptimizer(0.05)),
        ("momentum", tf.train.MomentumOptimizer(0.02, 0.9)),
        ("adam", tf.train.AdamOptimizer(0.1)),
    ):
        with strategy.scope(), tf.variable_scope(name):
            train(tf, strategy, run, show, name, optimizer)


def batches(tf):
    """One batch again and again: the towers of 1.12 took theirs in any order."""
    random = np.random.RandomState(7)
    x = random.uniform(-1, 1, (16, 3)).astype(np.float32)
    y = (x.dot([[1.0], [-2.0], [0.5]]) + 3).astype(np.float32)
    return tf.data.Dataset.from_tensors((x, y)).repeat()


def train(tf, strategy, run, show, name, optimizer):
    kernel = tf.get_variable("kernel", [3, 1], initializer=tf.zeros_initializer())
    bias = tf.get_variable("bias", [1], initializer=tf.zeros_initializer())
    iterator = strategy.distribute_dataset(lambda: batches(tf)).make_one_shot_iterator()

    def step(context, x, y):
        def tower(x, y):
            loss = tf.reduce_mean(tf.square(tf.matmul(x, kernel) + bias - y))
            return loss, optimizer.minimize(loss)

        losses, updates = strategy.call_for_each_tower(tower, x, y)
        for output, aggregation in (
            ("sum", tf.VariableAggregation.SUM),
            ("mean", tf.VariableAggregation.MEAN),
        ):
            context.set_last_step_output(output, losses, aggregation)
        return strategy.group(updates)

    context = strategy.run_steps_on_dataset(
        step,
        iterator,
        iterations=10,
        initial_loop_values={"sum": tf.constant(0.0), "mean": tf.constant(0.0)},
    )
    fetched = {key: context.last_step_outputs[key] for key in ("sum", "mean")}
    show(name + " losses", run([context.run_op, fetched])[1])
    show(name + " kernel", run(strategy.read_var(kernel)))
    show(name + " bias", run(strategy.read_var(bias)))
