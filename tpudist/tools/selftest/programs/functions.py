"""Programs that 2.0 and 2.2 have alike; only the name of `run` differs."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Callable

import tensorflow as tf

from tpudist.tools.selftest import programs as base
from tpudist.tools.selftest.programs import RATE, ROWS, STEPS, Compiled, Program, World

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import Nest

    Run = Callable[..., Any]

compiled: Compiled = tf.function

_SUM, _MEAN = tf.distribute.ReduceOp.SUM, tf.distribute.ReduceOp.MEAN


def replicas(world: World, run: Run) -> dict[str, Any]:
    """Ids, sums over the replicas and a result for each."""
    strategy = world.strategy
    count = strategy.num_replicas_in_sync

    @compiled
    def step() -> Nest:
        def replica() -> Nest:
            context = tf.distribute.get_replica_context()
            number = tf.cast(context.replica_id_in_sync_group, tf.float32)
            return number, context.all_reduce(_SUM, number)

        number, total = run(replica)
        local = strategy.experimental_local_results
        return local(number), local(total), strategy.reduce(_MEAN, number, axis=None)

    numbers, totals, mean = step()
    return {
        "ids": [int(each) for each in numbers] == list(range(count)),
        "sum of ids": all(int(each) == count * (count - 1) // 2 for each in totals),
        "mean of ids": float(mean) == (count - 1) / 2.0,
    }


def training(world: World, run: Run) -> dict[str, Any]:
    """Losses and weights of a net that is trained on a distributed dataset."""
    strategy = world.strategy
    with strategy.scope():
        net = [
            tf.Variable(value, aggregation=tf.VariableAggregation.MEAN) for value in base.weights()
        ]

    def replica(x: object, y: object) -> Nest:
        with tf.GradientTape() as tape:
            prediction = tf.matmul(tf.tanh(tf.matmul(x, net[0])), net[1])
            loss = tf.reduce_sum((prediction - y) ** 2) / ROWS
        context = tf.distribute.get_replica_context()
        gradients = context.all_reduce(_SUM, tape.gradient(loss, net))
        for variable, gradient in zip(net, gradients):
            variable.assign_sub(RATE * gradient)
        return loss

    @compiled
    def step(x: object, y: object) -> Nest:
        return strategy.reduce(_SUM, run(replica, args=(x, y)), axis=None)

    data = tf.data.Dataset.from_tensor_slices(base.rows()).repeat().batch(ROWS, drop_remainder=True)
    batches = iter(strategy.experimental_distribute_dataset(data))
    losses = [float(step(*next(batches))) for _ in range(STEPS)]
    return {"losses": _floats(losses), "hidden weights": net[0].numpy(), "weights": net[1].numpy()}


def _floats(values: object) -> Nest:
    return tf.constant(values, tf.float32).numpy()


def counting(world: World, run: Run) -> dict[str, Any]:
    """Variables that are summed, or averaged, when they are read."""
    strategy = world.strategy
    count = strategy.num_replicas_in_sync
    read = tf.VariableSynchronization.ON_READ
    with strategy.scope():
        summed, averaged = [
            tf.Variable(0.0, trainable=False, synchronization=read, aggregation=aggregation)
            for aggregation in (tf.VariableAggregation.SUM, tf.VariableAggregation.MEAN)
        ]

    def replica() -> None:
        number = tf.distribute.get_replica_context().replica_id_in_sync_group
        summed.assign_add(1.0)
        averaged.assign_add(tf.cast(number, tf.float32))

    @compiled
    def steps() -> None:
        for _ in range(3):
            run(replica)

    steps()
    return {
        "a sum": float(summed.read_value()) == 3.0 * count,
        "a mean": float(averaged.read_value()) == 3.0 * (count - 1) / 2,
    }


def reductions(world: World, run: Run) -> dict[str, Any]:
    """Sums and means along an axis of each replica's rows."""
    strategy = world.strategy
    data = tf.data.Dataset.from_tensor_slices(base.rows()).batch(ROWS, drop_remainder=True)
    (batch,) = list(strategy.experimental_distribute_dataset(data))

    @compiled
    def step(x: object, y: object) -> Nest:
        squares = run(lambda x, y: x * x, args=(x, y))
        return strategy.reduce(_SUM, squares, axis=0), strategy.reduce(_MEAN, squares, axis=0)

    total, mean = step(*batch)
    return {"sums of squares": total.numpy(), "means of squares": mean.numpy()}


def half_precision(world: World, run: Run) -> dict[str, Any]:
    """A product in bfloat16."""
    x, (hidden, _) = base.rows()[0][:32], base.weights()

    @compiled
    def step() -> Nest:
        product = run(lambda: tf.matmul(tf.cast(x, tf.bfloat16), tf.cast(hidden, tf.bfloat16)))
        return world.strategy.experimental_local_results(product)

    result = step()[0]
    return {"product": tf.cast(result, tf.float32).numpy(), "is bfloat16": result.dtype.name}


def random(world: World, run: Run) -> dict[str, Any]:
    """Numbers that replicas draw: in their range, and each replica its own."""

    @compiled
    def step() -> Nest:
        drawn = run(lambda: tf.random.uniform([64], 2.0, 3.0))
        return world.strategy.experimental_local_results(drawn)

    drawn = [each.numpy().tolist() for each in step()]
    return {
        "in their range": all(2.0 <= number < 3.0 for each in drawn for number in each),
        "not constant": all(len(set(each)) > 8 for each in drawn),
    }


def loop(world: World, run: Run) -> dict[str, Any]:
    """Steps in a loop of a tf.function, on the device."""
    with world.strategy.scope():
        total = tf.Variable(1.0, aggregation=tf.VariableAggregation.MEAN)

    @compiled
    def steps(count: object) -> None:
        for _ in tf.range(count):
            run(lambda: total.assign(total * 1.5))

    steps(tf.constant(4))
    return {"one and a half to the fourth": total.numpy()}


_ALIKE = {
    "replicas": replicas,
    "reductions": reductions,
    "variables on read": counting,
    "training": training,
    "loop": loop,
    "bfloat16": half_precision,
    "random numbers": random,
}


def programs(method: str) -> dict[str, Program]:
    """{name: program} of an era, in which the strategy's `run` is called `method`."""

    def with_run(program: Callable[..., dict[str, Any]], world: World) -> dict[str, Any]:
        return program(world, getattr(world.strategy, method))

    return {name: functools.partial(with_run, program) for name, program in _ALIKE.items()}
