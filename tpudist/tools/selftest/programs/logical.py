"""Programs of TensorFlow 2.2 alone: values made per replica, logical devices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tpudist.tools.selftest.programs import Compiled, NotTried, Program, World, rows, weights
from tpudist.v2_2 import tensorflow as tf

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import Nest

compiled: Compiled = tf.function


def values(world: World) -> dict[str, Any]:
    """Values that are made one for each replica."""
    strategy = world.strategy
    made = strategy.experimental_distribute_values_from_function(
        lambda context: tf.constant(float(context.replica_id_in_sync_group))
    )

    @compiled
    def step(value: object) -> Nest:
        return strategy.experimental_local_results(
            strategy.run(lambda x, scale: x * scale, args=(value,), kwargs={"scale": 2.0})
        )

    results = [float(each) for each in step(made)]
    return {"doubled": results == [2.0 * i for i in range(strategy.num_replicas_in_sync)]}


def logical_devices(world: World) -> dict[str, Any]:
    """A product split over two cores of a replica is the product."""
    mesh = [int(each) for each in world.topology.mesh_shape]
    axis = next((i for i in reversed(range(len(mesh))) if mesh[i] % 2 == 0), None)
    if axis is None:
        raise NotTried("a replica of two cores needs a TPU with an even number of cores")
    shape = [2 if i == axis else 1 for i in range(len(mesh))]
    count = world.strategy.num_replicas_in_sync // 2
    assignment = tf.tpu.experimental.DeviceAssignment.build(
        world.topology, computation_shape=shape, num_replicas=count
    )
    strategy = tf.distribute.experimental.TPUStrategy(world.resolver, assignment)
    x, (hidden, _) = rows()[0][:32], weights()

    @compiled
    def step() -> Nest:
        def replica() -> Nest:
            split = strategy.experimental_split_to_logical_devices(tf.constant(x), [2, 1])
            whole = strategy.experimental_replicate_to_logical_devices(tf.constant(hidden))
            return tf.matmul(split, whole)

        return strategy.experimental_local_results(strategy.run(replica))

    results = step()
    return {"product": results[0].numpy(), "half as many replicas": len(results) == count}


#: {name: program}, beside those of `functions`.
PROGRAMS: dict[str, Program] = {"values per replica": values, "logical devices": logical_devices}
