"""Runs a model function in each replica, in a loop of steps on the device.

The model function is called in the replicas of a strategy, and several steps are one loop of
:func:`tpudist.adapter.run_steps`. Estimator and TPUEstimator use it on every release.
"""

from __future__ import annotations

import contextlib
import functools
from typing import TYPE_CHECKING, Any, Callable, Iterator, Mapping

import tensorflow as tf

from tpudist import adapter
from tpudist.backends import step_loops
from tpudist.errors import ArgumentError, ArgumentTypeError
from tpudist.estimator import host_calls
from tpudist.tfcompat import distributed, estimators, nests

if TYPE_CHECKING:
    from tpudist.annotations import Fn, Integer, Scaffold, Session
    from tpudist.tfcompat.annotations import Extended, Nest, Operation, Strategy, Tensor, Variable

_train = tf.compat.v1.train
_SessionRunHook: Any = _train.SessionRunHook


class StepLoop:
    """Builds a loop of steps, and keeps what the model function returned.

    ``model_fn(features, labels)`` returns a specification, and ``replica_outputs(spec)`` the nest
    of tensors that a replica returns. `keeps_first_replica` says whether variables are made by
    :func:`first_replica_variables`. After :meth:`build`, `spec` is that of the first replica, and
    `outputs` are the step's.
    """

    def __init__(
        self,
        strategy: Strategy,
        model_fn: Fn,
        replica_outputs: Callable[[Any], Mapping[str, Nest]],
        keeps_first_replica: bool = True,
    ) -> None:
        self._strategy = strategy
        self._model_fn = model_fn
        self._replica_outputs = replica_outputs
        self._variables = first_replica_variables if keeps_first_replica else contextlib.ExitStack
        self.spec: Any = None
        self.outputs = step_loops.StepOutputs(first={"loss": tf.zeros([])})

    def build(
        self, infeed: Any, iterations: Integer, set_outputs: Callable[[Any, dict[str, Nest]], None]
    ) -> Operation | None:
        """Builds the loop; returns the op that runs it. Context: a graph.

        ``set_outputs(outputs, values)`` is called in the step with the per-replica values of
        `replica_outputs`, to set the step's outputs.
        """

        def step(outputs: object, features: Nest, labels: Nest = None) -> None:
            values = adapter.replicate(self._strategy, replica, (features, labels), {})
            set_outputs(outputs, values)

        @functools.wraps(self._model_fn)  # Reports name the function that is replicated.
        def replica(features: Nest, labels: Nest) -> Mapping[str, Nest]:
            return self._replica(features, labels)

        with self._strategy.scope(), _only_what_is_fetched(self._strategy.extended):
            adapter.run_steps(self._strategy, step, infeed, iterations, None, self.outputs)
        return self.outputs.run_op

    def _replica(self, features: Nest, labels: Nest) -> Mapping[str, Nest]:
        with self._variables():
            spec = self._model_fn(features, labels)
            values = self._replica_outputs(spec)
        if self.spec is None:
            self.spec = spec
        return values

    def concatenated(self, per_replica: object) -> Nest:
        """Concatenates each per-replica tensor of a nest over the replicas."""
        return nests.map_structure(
            lambda leaf: adapter.concatenated(
                self._strategy, adapter.local_results(self._strategy, leaf)
            ),
            per_replica,
        )

    def scaffold(self) -> Scaffold | None:
        """Returns what the specification's ``scaffold_fn`` makes; None without one."""
        scaffold_fn = getattr(self.spec, "scaffold_fn", None)
        if scaffold_fn is None:
            return None
        host_calls.refuse_captures(scaffold_fn)
        with self._strategy.scope():
            try:
                scaffold = scaffold_fn()
            except (AssertionError, TypeError) as error:
                # In 2.2 it is ``assert not as_ref``, without words.
                if str(error) and "names_to_saveables" not in str(error):
                    raise
                raise ArgumentTypeError(
                    "scaffold_fn made a tf.train.Saver, which raised %r" % error,
                    "a Saver of a dict of names takes no variable that has a copy on each of "
                    "several devices (gpus, cpus)",
                    "--tpu virtual:%d, whose variables have none"
                    % self._strategy.num_replicas_in_sync,
                ) from error
        if not isinstance(scaffold, _train.Scaffold):
            raise ArgumentTypeError(
                "scaffold_fn returned %r" % (scaffold,),
                "the Session is started with what it returns",
                "return tf.train.Scaffold()",
            )
        return scaffold


class LoopHook(_SessionRunHook):
    """Feeds each loop its number of steps, and stops after the last step that is asked for.

    `steps` are further ones, `max_steps` is the global step of the last; None for no end.
    """

    def __init__(self, per_loop: int, steps: int | None, max_steps: int | None) -> None:
        self._per_loop = per_loop
        self._steps = steps
        self._last_step = max_steps

    def begin(self) -> None:
        self._global_step = estimators.global_step_read()
        self._iterations = iterations_per_loop()

    def after_create_session(self, session: Session, coord: object) -> None:
        self._step = session.run(self._global_step)
        if self._last_step is None and self._steps is not None:
            self._last_step = self._step + self._steps

    def before_run(self, run_context: object) -> object:
        steps_left = self._per_loop if self._last_step is None else self._last_step - self._step
        iterations = max(1, min(self._per_loop, steps_left))
        return _train.SessionRunArgs(None, feed_dict={self._iterations: iterations})

    def after_run(self, run_context: Any, run_values: object) -> None:
        self._step = run_context.session.run(self._global_step)
        if self._last_step is not None and self._step >= self._last_step:
            run_context.request_stop()


def iterations_per_loop() -> Tensor:
    """Returns the current graph's tensor of steps of a loop, which a `LoopHook` feeds."""
    graph = tf.compat.v1.get_default_graph()
    collection = graph.get_collection_ref("tpu_estimator/iterations_per_loop")
    if not collection:
        one = tf.constant(1, tf.int32)
        collection.append(tf.compat.v1.placeholder_with_default(one, [], "iterations_per_loop"))
    return collection[0]


@contextlib.contextmanager
def first_replica_variables() -> Iterator[None]:
    """Context manager: a variable keeps what the first replica assigns to it.

    In a TPU computation each replica has a copy of a variable, and after the loop of steps
    the first replica's copy is read. A variable that asks for an aggregation gets that.
    """

    def create(next_creator: Fn, **kwargs: Any) -> Variable:
        if kwargs.get("aggregation") in (None, tf.VariableAggregation.NONE):
            kwargs["aggregation"] = tf.VariableAggregation.ONLY_FIRST_REPLICA
        kwargs["synchronization"] = tf.VariableSynchronization.ON_WRITE
        kwargs["use_resource"] = True
        return next_creator(**kwargs)

    with tf.variable_creator_scope(create):
        yield


@contextlib.contextmanager
def _only_what_is_fetched(extended: Extended) -> Iterator[None]:
    """Context manager: a step runs what its outputs need, as a Session does, and no op beside."""
    before = getattr(extended, "runs_as_session", False)
    extended.runs_as_session = True
    try:
        yield
    finally:
        extended.runs_as_session = before


def require_tensor(name: str, value: Any) -> Tensor:
    """Returns a field of a specification if it is a tensor."""
    if isinstance(value, (tf.Tensor, tf.Variable)) or distributed.is_tensor_like(value):
        return value
    raise ArgumentTypeError(
        "the model function's specification has %s=%r" % (name, value),
        "the step computes it anew each time, so it is a tensor of the step",
        "%s=tf.reduce_mean(...)" % name,
    )


def require_cross_replica_sum(strategy: Strategy) -> None:
    """Refuses a training step that sums nothing over the replicas.

    Context: after the loop of steps was built.
    """
    num_replicas = adapter.num_replicas(strategy)
    if num_replicas > 1 and not getattr(strategy.extended, "sums_replicas", True):
        raise ArgumentError(
            "a training step in which nothing is summed over the %d replicas" % num_replicas,
            "each replica would train a model of its own: CrossShardOptimizer must be used for "
            "model training on TPUs",
            "optimizer = tf.compat.v1.tpu.CrossShardOptimizer(optimizer), tf.contrib.tpu's on 1.13",
        )
