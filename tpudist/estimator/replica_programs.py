"""What runs on the cores: the one TPU part of Estimator and TPUEstimator on every release.

The model function is called in a replica of a strategy; several steps are one loop of
:func:`tpudist.core.adapter.run_steps`. Nothing here knows whose base class runs the
Session.
"""

from __future__ import annotations

import contextlib
import functools
from typing import TYPE_CHECKING

import tensorflow as tf

from tpudist.core import adapter, base_classes, step_outputs
from tpudist.errors import ArgumentError, ArgumentTypeError
from tpudist.estimator import host_calls
from tpudist.tfcompat import distributed, nests, versions

if TYPE_CHECKING:
    from typing import Any, Callable, Iterator

    from tpudist.core.annotations import Strategy


class Cores(base_classes.TPUStrategyBaseV1):
    """The strategy of a TPUEstimator: its replicas share variables as the cores of a TPU do.

    Args:
      resolver: a resolver, or None for the local TPU.
      assignment: a `DeviceAssignment`, or None.
    """

    def __init__(self, resolver: Any, assignment: Any = None) -> None:
        adapter.initialize(self, resolver, assignment)
        strategy: Any = self
        strategy.extended.traces_once = versions.TRACES_AS_FIRST


@contextlib.contextmanager
def variables_of_cores() -> Iterator[None]:
    """Context manager: variables are the cores', as a TPU computation's are.

    Without a strategy each core assigns its own copy, and the first core's is what is
    left when the loop of steps is done.
    """

    def create(next_creator: Any, **kwargs: Any) -> Any:
        if kwargs.get("aggregation") in (None, tf.VariableAggregation.NONE):
            kwargs["aggregation"] = tf.VariableAggregation.ONLY_FIRST_REPLICA
        kwargs["synchronization"] = tf.VariableSynchronization.ON_WRITE
        kwargs["use_resource"] = True
        return next_creator(**kwargs)

    with tf.variable_creator_scope(create):
        yield


class Program:
    """A step on the cores, and what its model function gave the host.

    Args:
      strategy: the strategy.
      model_fn: ``model_fn(features, labels)``: returns a specification.
      values: ``values(spec)``: the nest of tensors that a replica hands out.
      own_variables: whether variables are as without a strategy.

    Attributes:
      spec: the specification of the first replica.
      outputs: after :meth:`run`, the step's outputs.
    """

    def __init__(
        self,
        strategy: Strategy,
        model_fn: Callable[[Any, Any], Any],
        values: Callable[[Any], dict[str, Any]],
        own_variables: bool = True,
    ) -> None:
        self._strategy = strategy
        self._model_fn = model_fn
        self._values = values
        self._variables = variables_of_cores if own_variables else contextlib.ExitStack
        self.spec: Any = None
        self.outputs = step_outputs.StepOutputs(first={"loss": tf.zeros([])})

    def run(self, infeed: Any, iterations: Any, use: Callable[[Any, dict[str, Any]], None]) -> Any:
        """Builds the loop of steps.

        Context: a graph.

        Args:
          infeed: has ``get_next()``.
          iterations: number of steps, an integer or a tensor.
          use: ``use(outputs, values)``: called in the step with the values of all
            replicas, to set its outputs.

        Returns:
          The op that runs the loop.
        """

        def step(outputs: Any, features: Any, labels: Any = None) -> None:
            values = adapter.replicate(self._strategy, replica, (features, labels), {})
            use(outputs, values)

        @functools.wraps(self._model_fn)  # Reports name what is replicated.
        def replica(features: Any, labels: Any) -> dict[str, Any]:
            return self._replica(features, labels)

        with self._strategy.scope(), _as_in_a_session(self._strategy.extended):
            adapter.run_steps(self._strategy, step, infeed, iterations, None, self.outputs)
        return self.outputs.run_op

    def _replica(self, features: Any, labels: Any) -> dict[str, Any]:
        with self._variables():
            spec = self._model_fn(features, labels)
            values = self._values(spec)
        if self.spec is None:
            self.spec = spec
        return values

    def joined(self, value: Any) -> Any:
        """A nest of per-replica values with the replicas' tensors one after the other."""
        return nests.map_structure(
            lambda leaf: join(adapter.local_results(self._strategy, leaf)), value
        )

    def scaffold(self) -> Any:
        """What the specification's ``scaffold_fn`` makes, or None.

        Raises:
          ArgumentTypeError: (a TypeError) it makes no ``Scaffold``.
        """
        scaffold_fn = getattr(self.spec, "scaffold_fn", None)
        if scaffold_fn is None:
            return None
        host_calls.refuse_captures(scaffold_fn)
        with self._strategy.scope():
            scaffold = scaffold_fn()
        if not isinstance(scaffold, tf.compat.v1.train.Scaffold):
            raise ArgumentTypeError(
                "scaffold_fn returned %r" % (scaffold,),
                "the Session is started with what it returns",
                "return tf.train.Scaffold()",
            )
        return scaffold


@contextlib.contextmanager
def _as_in_a_session(extended: Any) -> Iterator[None]:
    """Context manager: the cores run what the specification names, and what that needs."""
    before = getattr(extended, "runs_as_session", False)
    extended.runs_as_session = True
    try:
        yield
    finally:
        extended.runs_as_session = before


def join(tensors: Any) -> Any:
    """The tensors of all replicas in one, along the first dimension."""
    return tensors[0] if len(tensors) == 1 else tf.concat(list(tensors), axis=0)


def require_tensor(name: str, value: Any) -> Any:
    """`value` of a specification as a tensor.

    Raises:
      ArgumentTypeError: (a TypeError) it is none: a Python number does not change.
    """
    if isinstance(value, (tf.Tensor, tf.Variable)) or distributed.is_tensor_like(value):
        return value
    raise ArgumentTypeError(
        "the model function's specification has %s=%r" % (name, value),
        "the step computes it anew each time, so it is a tensor of the step",
        "%s=tf.reduce_mean(...)" % name,
    )


def require_sums(strategy: Strategy) -> None:
    """Refuses a training step in which the cores never meet.

    Raises:
      ArgumentError: (a ValueError) see above.
    """
    count = adapter.num_replicas(strategy)
    if count > 1 and not getattr(strategy.extended, "sums_replicas", True):
        raise ArgumentError(
            "a training step in which nothing is summed over the %d cores" % count,
            "each core would train a model of its own: CrossShardOptimizer must be used for "
            "model training on TPUs",
            "optimizer = tf.contrib.tpu.CrossShardOptimizer(optimizer)",
        )
