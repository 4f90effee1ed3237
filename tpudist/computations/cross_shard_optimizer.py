"""``CrossShardOptimizer``: gradients summed or averaged over the cores.

Reference: ``tf.compat.v1.tpu.CrossShardOptimizer``.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, Callable, Iterator, Sequence

import tensorflow as tf

from tpudist.backends import strategies
from tpudist.errors import ArgumentError, ContextError
from tpudist.tfcompat import distributed, functions, graphs, tpu
from tpudist.virtual.trace import function_graphs

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import (
        Extended,
        Graph,
        Nest,
        Operation,
        Strategy,
        Tensor,
        Variable,
    )


Reduction = tf.compat.v1.losses.Reduction


class CrossShardOptimizer(tpu.CrossShardOptimizer):
    """The native optimizer, which also works in replicas of a virtual TPU.

    Args:
      opt: a ``tf.compat.v1.train.Optimizer``.
      reduction: ``tf.losses.Reduction.MEAN`` or ``SUM``.
      name: prefix of the names of its ops.
      group_assignment: lists of replica ids, for sums over groups; a virtual
        TPU, whose variables are equal in all replicas, takes one group only.
    """

    def compute_gradients(
        self, loss: object, var_list: object = None, **kwargs: Any
    ) -> list[tuple[Tensor | None, Variable]]:
        """Gradients of the replica's share of the loss.

        Context: replica.

        Returns:
          A list of (gradient, variable) pairs.

        Raises:
          ContextError: (a RuntimeError) outside of a replica function.
        """
        if tf.distribute.in_cross_replica_context():
            raise ContextError(
                "CrossShardOptimizer was asked for gradients in a strategy's scope, outside of "
                "its replica functions",
                "there is no replica here whose share of the loss they could be of",
                "call minimize() in the function given to call_for_each_tower, "
                "run_steps_on_dataset or run",
            )
        context = strategies.virtual_replica()
        if context is None:
            return super().compute_gradients(loss, var_list, **kwargs)
        return self._opt.compute_gradients(
            self._scaled(loss, context.num_replicas_in_sync), var_list=var_list, **kwargs
        )

    def _scaled(self, loss: Any, count: int) -> Nest:
        """`loss`, scaled so that the sum over replicas is the reduction asked for."""
        if callable(loss):
            return lambda: self._scaled(loss(), count)
        factor = 1.0 / count if self._reduction == Reduction.MEAN else 1.0
        by_optimizer = tf.compat.v1.distribute.get_loss_reduction()
        if by_optimizer == tf.distribute.ReduceOp.MEAN:
            factor *= count
        return loss if factor == 1.0 else loss * tf.cast(factor, loss.dtype)

    def apply_gradients(
        self, grads_and_vars: Any, global_step: object = None, name: str | None = None
    ) -> Operation:
        """Sums gradients over replicas and updates each variable once.

        Context: replica.

        Returns:
          An op.

        Raises:
          ArgumentError: (a ValueError) several groups on a virtual TPU.
        """
        context = strategies.virtual_replica()
        if context is None:
            return super().apply_gradients(grads_and_vars, global_step, name)
        if self._group_assignment and len(self._group_assignment) > 1:
            raise ArgumentError(
                "group_assignment=%s" % (self._group_assignment,),
                "the groups' variables would differ, and a virtual TPU stores "
                "one value for all replicas",
                "group_assignment=None",
            )
        context.strategy.extended.sums_replicas = True
        if type(self._opt).apply_gradients is tf.compat.v1.train.Optimizer.apply_gradients:
            done = self._opt.apply_gradients(grads_and_vars, global_step, name)
        else:
            done = _apply_once(context, self._opt, list(grads_and_vars), global_step, name)
        # With a strategy, TensorFlow gives the value of `global_step`: another output of a
        # computation that returns what this returns.
        return done if tf.executing_eagerly() else tf.group(done)


def _apply_once(
    context: Any, optimizer: Any, grads_and_vars: Any, global_step: object, name: str | None
) -> Operation:
    """Sums gradients, and calls an ``apply_gradients`` that knows no strategy.

    TensorFlow's own sums gradients itself where there is a strategy. A class that has its own
    updates plain variables: here the stored ones, once for all replicas. Where each core is a
    device, these are the first device's copies, which the others then follow.
    """
    names = tf.compat.v1.get_variable_scope()

    @functions.library
    def merge(strategy: Strategy, gradients: Any) -> Operation:
        pairs = [(g, v) for g, (_, v) in zip(gradients, grads_and_vars)]
        sums = strategy.extended.batch_reduce_to(
            tf.distribute.ReduceOp.SUM, [pair for pair in pairs if pair[0] is not None]
        )
        sums = iter([distributed.components(total)[0] for total in sums])
        plain = [
            (None if g is None else next(sums), distributed.components(v)[0]) for g, v in pairs
        ]
        step = None if global_step is None else distributed.components(global_step)[0]
        every = map(distributed.components, [v for _, v in grads_and_vars] + [global_step])
        copied = [copies for copies in every if len(copies) > 1]
        before = [_changes(first) for first, *_ in copied]
        with _without_strategy(strategy.extended, names):
            done = optimizer.apply_gradients(plain, global_step=step, name=name)
        changed = [copies for copies, ops in zip(copied, before) if _changes(copies[0]) != ops]
        return _followed(done, copied if tf.executing_eagerly() else changed)

    return context.merge_call(merge, args=([g for g, _ in grads_and_vars],))


def _changes(variable: Any) -> set[Any]:
    """The ops of the current graph that take a variable and may change it; none in eager mode."""
    if tf.executing_eagerly():
        return set()
    handle = functions.capture(tf.compat.v1.get_default_graph(), variable.handle)
    return {op for op in handle.consumers() if op.type not in graphs.READS}


def _followed(done: Any, variables: Sequence[Sequence[Any]]) -> Operation:
    """An op that runs `done`, and then copies the first copy of each variable to the others."""
    if not variables:
        return done
    updates = [] if done is None else [done]
    with tf.control_dependencies([] if tf.executing_eagerly() else list(updates)):
        for first, *others in variables:
            with tf.device(first.device):
                value = first.read_value()
            for copy in others:
                with tf.device(copy.device):
                    updates.append(copy.assign(value, read_value=False))
    return done if tf.executing_eagerly() else tf.group(*updates)


#: The arguments of a slot's constructor.
_ARGUMENTS = (
    "initial_value",
    "trainable",
    "collections",
    "validate_shape",
    "caching_device",
    "name",
    "dtype",
    "constraint",
)


class _Slot(distributed.ResourceVariable):
    """An optimizer's slot, with the methods by which TensorFlow gets a variable's component."""

    def get(self, *unused_device: Any, **unused_named: Any) -> Variable:
        """The variable itself. The method's name until 2.1; those of 2.2 and 2.4 follow."""
        return self

    _get_closest = _get_on_device_or_primary = get


@contextlib.contextmanager
def _without_strategy(extended: Extended, names: object) -> Iterator[Any]:
    """Context manager: an optimizer in cross-replica context sees no strategy; its slots are plain.

    They are on the strategy's first device; `names` is the variable scope to look names up in.
    """

    def create(unused_next_creator: Callable[..., Any], **kwargs: Any) -> Variable:
        arguments = {name: kwargs[name] for name in _ARGUMENTS if kwargs.get(name) is not None}
        with function_graphs.outside(arguments), extended.place():
            return _Slot(**arguments)

    with contextlib.ExitStack() as stack:
        for graph in _graphs_around():  # tf.init_scope leaves the inner ones
            stack.enter_context(graph.as_default())
            stack.enter_context(distributed.cross_replica(None))
            stack.enter_context(tf.variable_creator_scope(create))
        stack.enter_context(tf.compat.v1.variable_scope(names, auxiliary_name_scope=False))
        yield


def _graphs_around() -> list[Graph]:
    """The current graph and those that it is a function of, outermost first."""
    graphs = [tf.compat.v1.get_default_graph()]
    while isinstance(graphs[0], functions.FuncGraph):
        graphs.insert(0, graphs[0].outer_graph)
    return graphs
