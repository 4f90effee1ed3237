"""Contexts of the contrib era, and the functions that find them.

Reference: https://github.com/tensorflow/docs/blob/r1.11/site/en/api_docs/python/tf/contrib/distribute/TowerContext.md
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import tensorflow as tf

from tpudist import adapter
from tpudist.backends import step_loops
from tpudist.strategy import contexts

if TYPE_CHECKING:
    from tpudist.annotations import Fn
    from tpudist.tfcompat.annotations import Tensor


#: `tf.VariableAggregation` with NONE, SUM, MEAN and ONLY_FIRST_TOWER (r1.11);
#: its members are the installed release's, which `tf.get_variable` takes.
VariableAggregation: Any = tf.compat.v1.VariableAggregation


class TowerContext:
    """The context of a tower function: its tower's number, and merges (r1.11).

    Args:
      replica_context: the `tf.distribute.ReplicaContext` of the tower.
    """

    def __init__(self, replica_context: Any) -> None:
        self._context = replica_context

    @property
    def distribution_strategy(self) -> Any:
        """The current `DistributionStrategy` (r1.11)."""
        return self._context.strategy

    @property
    def tower_id(self) -> int | Tensor:
        """The number of this tower, 0 to `num_towers` - 1 (r1.11).

        Returns:
          A Python integer in eager mode, and in a graph outside of
          `run_steps_on_dataset`; an int32 scalar tensor where one trace serves
          all towers, as on a TPU: in `run_steps_on_dataset` and in a
          tf.function, both from 2.4 on.

        Raises:
          ContextError: (a RuntimeError) outside of the tower function.
        """
        return contexts.replica_id(self._context)

    @property
    def num_towers(self) -> int:
        """Number of towers, for purposes of averaging across towers (r1.11)."""
        return self._context.num_replicas_in_sync

    @property
    def is_single_tower(self) -> bool:
        """Whether there is a single tower (r1.11)."""
        return contexts.is_single(self._context)

    @property
    def device(self) -> str:
        """The device this tower is to be executed on, a string (r1.11).

        Returns:
          An element of `worker_devices`; `""` where one trace serves all
          towers.
        """
        return contexts.device(self._context)

    @adapter.library
    def merge_call(self, merge_fn: Fn, *args: Any, **kwargs: Any) -> Any:
        """Calls `merge_fn` once for all towers, in cross-tower context (r1.11).

        Args:
          merge_fn: `merge_fn(distribution, *args, **kwargs)`; gets per-device
            values of the towers' arguments.
          *args: this tower's arguments.
          **kwargs: likewise.

        Returns:
          What `merge_fn` returned, of a per-device value this tower's part.

        Raises:
          ContextError: (a RuntimeError) outside of the tower function.
        """
        return contexts.merge_call(self._context, merge_fn, args, kwargs)


class MultiStepContext(step_loops.StepOutputs):
    """The outputs that the function of `run_steps_on_dataset` sets, and its results.

    Reference: https://github.com/tensorflow/tensorflow/blob/r1.12/tensorflow/contrib/distribute/python/values.py
    """

    @property
    def last_step_outputs(self) -> dict[str, Any]:
        """The tensors of the last step, by name (r1.12).

        A list with one tensor per tower where nothing was aggregated, else a
        tensor. Evaluating one of them runs the loop; in the same Session.run
        all of them and `run_op` run it once.
        """
        return self.tensors

    @property
    def non_tensor_outputs(self) -> dict[str, Any]:
        """Whatever else the function set, by name (r1.12)."""
        return self.others

    @adapter.library
    @adapter.shown_as("name", "output", ("aggregation", VariableAggregation.NONE))
    def set_last_step_output(
        self,
        name: str,
        output: object,
        aggregation: object = VariableAggregation.NONE,
        reduce_op: object = None,
    ) -> None:
        """Gives `output` back from the last step (r1.12).

        Context: tower or cross-tower, inside the step.

        Args:
          name: its key in `last_step_outputs`.
          output: a tensor, or a nest of them; in cross-tower context a value
            with one tensor per tower.
          aggregation: NONE for the list of all towers' values; SUM, MEAN or
            ONLY_FIRST_TOWER (or a `ReduceOp`) for one tensor.
          reduce_op: the same as `aggregation` (1.13).
        """
        super().set_tensor(name, output, reduce_op or aggregation)

    @adapter.library
    def set_non_tensor_output(self, name: str, output: object) -> None:
        """Gives back something that is not a tensor (r1.12).

        Args:
          name: its key in `non_tensor_outputs`.
          output: anything; set in a tower, the result is a list.
        """
        super().set_other(name, output)


@adapter.library
def get_tower_context() -> TowerContext | None:
    """The `TowerContext` of the tower this is called in (r1.11).

    Returns:
      A `TowerContext`, also where there is no strategy; None in cross-tower
      context.
    """
    return contexts.current_replica(TowerContext)


@adapter.library
def get_cross_tower_context() -> Any:
    """The strategy in its cross-tower context, else None (r1.11)."""
    return contexts.cross_replica_strategy()


@adapter.library
def get_distribution_strategy() -> Any:
    """The current `DistributionStrategy`, or the default one (r1.11)."""
    return contexts.current_strategy()


@adapter.library
def has_distribution_strategy() -> bool:
    """Whether a strategy other than the default one is current (r1.11)."""
    return contexts.has_strategy()


@adapter.library
def get_loss_reduction() -> object:
    """The last reduction of a loss by `tf.losses` in this graph (r1.11).

    Returns:
      `VariableAggregation.SUM` or `VariableAggregation.MEAN`.
    """
    return contexts.last_loss_reduction(VariableAggregation.SUM, VariableAggregation.MEAN)
