"""Programs of TensorFlow 1.11: graphs, Sessions, towers, steps in a device's loop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tpudist.contrib import tensorflow as tf
from tpudist.tools.selftest import programs as base
from tpudist.tools.selftest.programs import RATE, ROWS, STEPS, Program, World

if TYPE_CHECKING:
    from tpudist.contrib import MultiStepContext
    from tpudist.tfcompat.annotations import DataIterator, Dataset, Nest, Tensor

_SUM = tf.VariableAggregation.SUM
_MEAN = tf.VariableAggregation.MEAN


def _iterator(world: World) -> DataIterator:
    def batches() -> Dataset:
        data = tf.data.Dataset.from_tensor_slices(base.rows_of_each_host()).repeat()
        return data.batch(ROWS // world.strategy.num_towers, drop_remainder=True)

    return world.strategy.distribute_dataset(batches).make_initializable_iterator()


def towers(world: World) -> dict[str, Any]:
    """Each tower has its id, its device and its part; what they merge is one value."""
    strategy = world.strategy
    with strategy.scope():

        def tower(x: object) -> Nest:
            assert tf.contrib.distribute.get_tower_context() is not None
            return tf.contrib.tpu.cross_replica_sum(x) / strategy.num_towers

        mean = strategy.call_for_each_tower(tower, tf.constant(3.0))
        parts = strategy.unwrap(mean)
        results = world.session.run(parts)
    return {
        "mean of a constant": results[0],
        "a result for each tower": len(results) == strategy.num_towers,
        "all the same": len(set(results)) == 1,
    }


def steps(world: World) -> dict[str, Any]:
    """Training by run_steps_on_dataset: one loop on the device."""
    strategy, (hidden, out) = world.strategy, base.weights()
    iterator = _iterator(world)
    with strategy.scope():
        w = tf.get_variable("selftest_w", initializer=hidden, use_resource=True)
        v = tf.get_variable("selftest_v", initializer=out, use_resource=True)
        optimizer = tf.train.GradientDescentOptimizer(RATE)

        def tower(context: MultiStepContext, x: object, y: object) -> Nest:
            loss = tf.reduce_mean((tf.matmul(tf.tanh(tf.matmul(x, w)), v) - y) ** 2)
            context.set_last_step_output("loss", loss, _MEAN)
            return optimizer.minimize(loss, var_list=[w, v])

        def step(context: object, x: object, y: object) -> Nest:
            return strategy.group(strategy.call_for_each_tower(tower, context, x, y))

        done = strategy.run_steps_on_dataset(
            step, iterator, STEPS, initial_loop_values={"loss": tf.constant(0.0)}
        )
        world.session.run([iterator.initializer, tf.global_variables_initializer()])
        _, loss = world.session.run([done.run_op, done.last_step_outputs["loss"]])
        trained = world.session.run([strategy.read_var(w), strategy.read_var(v)])
    return {"loss of the last step": loss, "hidden weights": trained[0], "weights": trained[1]}


def variables(world: World) -> dict[str, Any]:
    """A variable is updated once for all towers."""
    strategy = world.strategy
    with strategy.scope():
        variable = tf.get_variable("selftest_count", initializer=1.0, use_resource=True)
        update = strategy.group(strategy.update(variable, lambda each: each.assign_add(2.0)))
        world.session.run(variable.initializer)
        world.session.run(update)
        return {"one and two": world.session.run(strategy.read_var(variable))}


def sums(world: World) -> dict[str, Any]:
    """A sum over the towers of what each tower read."""
    strategy, iterator = world.strategy, _iterator(world)
    with strategy.scope():

        def tower(context: MultiStepContext, x: Tensor, y: object) -> Nest:
            context.set_last_step_output("rows", tf.reduce_sum(tf.ones_like(y)), _SUM)
            context.set_last_step_output("features", tf.reduce_sum(x * x), _SUM)
            return tf.no_op()

        start = {"rows": tf.constant(0.0), "features": tf.constant(0.0)}
        done = strategy.run_steps_on_dataset(
            lambda context, x, y: strategy.group(
                strategy.call_for_each_tower(tower, context, x, y)
            ),
            iterator,
            2,
            initial_loop_values=start,
        )
        world.session.run(iterator.initializer)
        _, results = world.session.run([done.run_op, done.last_step_outputs])
    return {"rows of a step": results["rows"], "squares of a step": results["features"]}


PROGRAMS: dict[str, Program] = {
    "towers": towers,
    "sums over a dataset": sums,
    "update": variables,
    "training steps": steps,
}
