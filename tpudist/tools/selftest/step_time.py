"""Step time of tpudist's strategy against TensorFlow's own, written by hand.

On a virtual TPU there is no native strategy: the same batch on one plain device is
what it is compared with.
"""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING, Any, Callable

import numpy as np
import tensorflow as tf

from tpudist.tfcompat import tpu
from tpudist.tools.selftest.programs import Compiled, World

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import Nest

compiled: Compiled = tf.function

#: A net of three layers; a global batch.
_WIDTH, _BATCH = 512, 1024
_STEPS, _ROUNDS = 20, 5


def measured(world: World) -> dict[str, Any]:
    """Seconds for each step, of rounds that took turns.

    Returns:
      ``other``: what the strategy is compared with; ``seconds`` and ``other_seconds``:
      medians; ``ratio``: the median of the rounds' ratios.
    """
    virtual = world.resolver.system is not None
    ours = _trainer(world.strategy.scope, world.strategy.run, world.strategy.num_replicas_in_sync)
    if virtual:
        other, theirs = "one plain device", _trainer(_no_scope, _at_once, 1)
    else:
        native = tpu.TPU_STRATEGIES[0](world.resolver)
        start = getattr(native, "run", None) or native.experimental_run_v2
        other = "the native strategy, written by hand"
        theirs = _trainer(native.scope, start, native.num_replicas_in_sync)
    ours(), theirs()  # traced, compiled
    rounds = [(_timed(ours), _timed(theirs)) for _ in range(_ROUNDS)]
    return {
        "other": other,
        "seconds": statistics.median(each for each, _ in rounds),
        "other_seconds": statistics.median(each for _, each in rounds),
        "ratio": statistics.median(each / against for each, against in rounds),
    }


def _no_scope() -> Nest:
    return tf.name_scope("plain")


def _at_once(fn: Callable[..., Any], args: Any) -> Nest:
    return fn(*args)


def _timed(step: Callable[[], Any]) -> float:
    start = time.perf_counter()
    for _ in range(_STEPS):
        last = step()
    float(last)
    return (time.perf_counter() - start) / _STEPS


def _trainer(scope: Any, run: Any, count: int) -> Callable[[], Any]:
    """A step of training on a constant batch, as a tf.function; it returns one loss."""
    x = np.ones([_BATCH // count, _WIDTH], np.float32) / _WIDTH
    with scope():
        net = [
            tf.Variable(tf.ones([_WIDTH, _WIDTH]) / _WIDTH, aggregation=tf.VariableAggregation.MEAN)
            for _ in range(3)
        ]

    def replica(batch: Any) -> Nest:
        context = tf.distribute.get_replica_context()
        number = tf.cast(context.replica_id_in_sync_group, tf.float32)
        with tf.GradientTape() as tape:
            value = batch * (1.0 + number * 1e-3)  # what all replicas share is done once
            for layer in net:
                value = tf.nn.relu(tf.matmul(value, layer))
            loss = tf.reduce_mean(value * value) / count
        gradients = tape.gradient(loss, net)
        if count > 1:
            gradients = context.all_reduce(tf.distribute.ReduceOp.SUM, gradients)
        for variable, gradient in zip(net, gradients):
            variable.assign_sub(0.01 * gradient)
        return loss

    @compiled
    def step() -> Nest:
        result = run(replica, args=(tf.constant(x),))
        return getattr(result, "values", [result])[0]

    return step
