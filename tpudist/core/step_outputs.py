"""What a loop of steps returns.

Reference: ``MultiStepContext`` of ``run_steps_on_dataset``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import tensorflow as tf

from tpudist.core import replica_values
from tpudist.errors import ArgumentError
from tpudist.tfcompat import distributed, functions, nests
from tpudist.virtual.replicas import program

if TYPE_CHECKING:
    from typing import Any

    from tpudist.core.annotations import Strategy


class StepOutputs:
    """What the function of a step sets, and the loop's results afterwards.

    Args:
      first: {name: value} of tensors before the first step, for TensorFlow's own loop on a
        real TPU, which has to know; None of none.

    Attributes:
      run_op: op that runs the loop; None before, and in eager mode.
    """

    def __init__(self, first: dict[str, Any] | None = None) -> None:
        self.first = first
        self._strategy = None
        self._native = None
        self._tensors: dict[str, Any] = {}
        self._others: dict[str, Any] = {}
        self._firsts: set[str] = set()
        self.run_op: tf.Operation | None = None

    @property
    def on_a_tpu(self) -> bool:
        """Whether the step is being built as a part of a real TPU's program."""
        return self._native is not None

    @property
    def tensors(self) -> dict[str, Any]:
        """The tensors of the last step by name."""
        return self._tensors

    @property
    def others(self) -> dict[str, Any]:
        """Whatever else the function set, by name."""
        return self._others

    def begin(self, strategy: Strategy, native: Any = None) -> None:
        """Starts to collect the outputs of `strategy`'s step.

        Args:
          strategy: the strategy.
          native: TensorFlow's own context of a native TPU's loop, or None.
        """
        self._strategy, self._native = strategy, native

    def finish(self, tensors: dict[str, Any], run_op: Any) -> None:
        """Takes the loop's results; from now on nothing can be set."""
        self.begin(None)
        self._tensors = {
            name: value[0] if name in self._firsts else value for name, value in tensors.items()
        }
        self.run_op = run_op

    def set_tensor(self, name: str, output: Any, aggregation: Any) -> None:
        """Makes `output` of the last step a result of the loop.

        Context: replica or cross-replica, inside the step.

        Args:
          name: its key in the results.
          output: a tensor, or in cross-replica context a value per replica.
          aggregation: NONE for a list with each replica's value, or what
            :func:`replica_values.reduction` takes for one tensor.
        """
        self._require_step(name)
        reduction = replica_values.reduction(aggregation, none_allowed=True)
        if self._native is not None:
            self._firsts |= {name} if reduction == replica_values.FIRST else set()
            _set_native(self._native, name, output, reduction)
            return
        if tf.distribute.get_replica_context() is not None:
            output = nests.map_structure(_as_tensor, output)
        program.deliver(output, lambda value: self._keep(name, value, reduction))

    def set_other(self, name: str, output: Any) -> None:
        """As :meth:`set_tensor`, for something that is not a tensor."""
        self._require_step(name)
        if tf.distribute.get_replica_context() is None:
            self._others[name] = output
            return
        program.deliver(
            output,
            lambda value: self._others.__setitem__(
                name, replica_values.unwrap(self._strategy, value)
            ),
        )

    def _require_step(self, name: str) -> None:
        if self._strategy is None:
            raise ArgumentError(
                "an output named %r was set outside of a step" % (name,),
                "it is given back by the loop that runs the step",
                "set it in the function that the loop runs, or in a replica function called there",
            )

    def _keep(self, name: str, value: Any, reduction: Any) -> None:
        strategy = self._strategy
        if reduction is None:
            self._tensors[name] = _per_replica_list(strategy, value)
        else:
            self._tensors[name] = nests.map_structure(
                lambda leaf: replica_values.reduce_leaf(strategy, reduction, leaf), value
            )


def _as_tensor(leaf: Any) -> tf.Tensor:
    return leaf if distributed.is_tensor_like(leaf) else tf.convert_to_tensor(leaf)


def _per_replica_list(strategy: Strategy, value: Any) -> list[Any]:
    if replica_values.is_list_of_replicas(strategy, value):
        return value
    return program.spread(strategy, value)


def _set_native(context: Any, name: str, output: Any, reduction: Any) -> None:
    """Sets an output of TensorFlow's own context, even without a reduction."""

    @functions.library
    def outside(unused_strategy: Any, value: Any) -> None:
        context.set_last_step_output(name, value)

    if reduction not in (None, replica_values.FIRST):
        context.set_last_step_output(name, output, reduction)
    elif tf.distribute.get_replica_context() is None:
        outside(None, output)
    else:
        tf.distribute.get_replica_context().merge_call(outside, (output,))
