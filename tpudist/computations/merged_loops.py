"""``tpu.repeat`` and ``tpu.while_loop`` in which the cores of a virtual TPU meet, before 1.14.

There each replica is traced alone, and meets the others between the ops of a graph only: not in a
loop. These leave replica context, as a collective does, and run the body on all replicas there:
one loop on the device, whose steps may have collectives.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

import tensorflow as tf

from tpudist.backends import strategies
from tpudist.errors import ArgumentTypeError
from tpudist.tfcompat import distributed, functions, graphs, nests, tpu
from tpudist.virtual import device_loop
from tpudist.virtual.replicas import flows, merge

if TYPE_CHECKING:
    from tpudist.annotations import Fn, Strategy


def repeat(n: Any, body: Fn, inputs: object, infeed_queue: object, name: str | None) -> Any:
    """Runs `body` `n` times."""
    context = strategies.virtual_replica()
    if context is None:
        return tpu.Computations.repeat(n, body, inputs, infeed_queue, name)

    if nests.is_tensor(n):  # perhaps another one on each replica
        return while_loop(
            lambda i, *unused: i < n,
            lambda i, *values: [i + 1] + _listed(body(*values)),
            [tf.zeros_like(n)] + _listed(inputs),
            infeed_queue,
            name,
        )[1:]

    def loop(each: _Replicas) -> list[tf.Tensor]:
        def step(unused_go: object, i: tf.Tensor, *values: tf.Tensor) -> list[tf.Tensor]:
            return [i + 1 < n, i + 1] + each.step(values)

        start = [tf.constant(n > 0), tf.constant(0)]
        return device_loop.run_while(step, start + each.start)[2:]

    return _merged(context, loop, body, inputs, infeed_queue) or tf.no_op()


def while_loop(condition: Fn, body: Fn, inputs: Any, infeed_queue: Any, name: str | None) -> Any:
    """Runs `body` while `condition` holds: on each replica for itself, if they never meet."""
    context, names = strategies.virtual_replica(), functions.variable_names()
    if context is None or infeed_queue is None:
        try:
            return tpu.Computations.while_loop(condition, body, inputs, infeed_queue, name)
        except merge.NestedMergeError:
            graphs.count_variable_names(names)

    def loop(each: _Replicas) -> list[tf.Tensor]:
        def step(unused_go: object, *values: tf.Tensor) -> list[tf.Tensor]:
            following = each.step(values)
            return [each.agree(following)] + following

        start = [each.agree(each.start)] + each.start
        return device_loop.run_while(step, start)[1:]

    with graphs.variables_reused():
        results = _merged(context, loop, body, inputs, infeed_queue, condition)
    return results[0] if len(results) == 1 else results or tf.constant(0)


def _merged(
    context: Any, loop: Fn, body: Fn, inputs: object, infeed_queue: Any, condition: Fn | None = None
) -> list[Any]:
    """The result of ``loop(_Replicas)`` for the current replica."""
    scope = tf.compat.v1.get_variable_scope()
    if infeed_queue is not None:
        infeed_queue.set_number_of_shards(context.num_replicas_in_sync)

    @functions.library
    def in_cross_replica_context(
        strategy: Strategy, body: object, condition: object, *values: Any
    ) -> list[Any]:
        with functions.unconverted():
            each = _Replicas(strategy, body, condition, infeed_queue, values, scope)
            return each.per_replica(loop(each))

    tensors = tuple(map(tf.convert_to_tensor, _listed(inputs)))
    results: list[Any] = context.merge_call(
        in_cross_replica_context, args=(body, condition, *tensors)
    )
    return results


class _Replicas:
    """The replicas in a loop, which carries a tensor of each replica for each of its `values`.

    `body` takes the values of one replica, then what `infeed_queue` gives, and returns new ones. Of
    replicas that are traced one by one each has its own, which sees its tensors. `condition` takes
    the values of one replica; `scope` is the variable scope of the loop.
    """

    def __init__(
        self,
        strategy: Strategy,
        body: Any,
        condition: object,
        infeed_queue: Any,
        values: Sequence[Any],
        scope: object,
    ) -> None:
        self._extended, self._scope = strategy.extended, scope
        self._count = len(distributed.local_replicas(strategy.extended))
        self._body, self._condition, self._infeed_queue = body, condition, infeed_queue
        self._dtypes = [distributed.components(value)[0].dtype for value in values]
        self.start = self._flat(values)

    def step(self, tensors: Sequence[tf.Tensor]) -> list[tf.Tensor]:
        """Runs the body on all replicas."""
        return self._flat(self._call(self._replica_step, self._body, tensors))

    def agree(self, tensors: Sequence[tf.Tensor]) -> tf.Tensor:
        """Whether the condition holds: on all replicas, or it is an error when it is run."""
        parts = distributed.components(
            self._call(
                lambda holds, *values: tf.convert_to_tensor(holds(*values)),
                self._condition,
                tensors,
            )
        )
        return flows.agreed(parts)

    def per_replica(self, tensors: Sequence[tf.Tensor]) -> list[Any]:
        """The per-replica values that these tensors are parts of."""
        rows = [list(tensors[i : i + self._count]) for i in range(0, len(tensors), self._count)]
        return [distributed.per_replica(self._extended, row) for row in rows]

    def _flat(self, values: Sequence[Any]) -> list[tf.Tensor]:
        parts = [list(distributed.components(value)) for value in values]
        return [part for each in parts for part in (each * self._count if len(each) == 1 else each)]

    def _call(self, fn: Fn, users: object, tensors: Sequence[tf.Tensor]) -> Any:
        arguments = (users, *self.per_replica(tensors))
        return self._extended.call_for_each_replica(fn, args=arguments)

    def _replica_step(self, body: Fn, *values: tf.Tensor) -> list[tf.Tensor]:
        """The body on one replica."""
        reuse = tf.compat.v1.get_variable_scope().reuse or None  # as all but the first do
        with tf.compat.v1.variable_scope(self._scope, reuse=reuse, auxiliary_name_scope=False):
            queue = self._infeed_queue
            fed = [] if queue is None else queue.generate_dequeue_op()
            results = _listed(body(*values, *fed))
        tensors = [tf.convert_to_tensor(x) for x in results if not isinstance(x, tf.Operation)]
        dtypes = [tensor.dtype for tensor in tensors]
        if dtypes != self._dtypes:
            raise ArgumentTypeError(
                "the body of a loop returned %s" % _names(dtypes),
                "what it returns is what it takes in the next step, %s" % _names(self._dtypes),
                "as many tensors, of the same types; ops may follow them",
            )
        return tensors


def _names(dtypes: Sequence[Any]) -> str:
    return ", ".join(dtype.name for dtype in dtypes) or "no tensor"


def _listed(values: object) -> list[Any]:
    if values is None:
        return []
    return list(values) if isinstance(values, (list, tuple)) else [values]
