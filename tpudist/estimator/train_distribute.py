"""Runs an ``Estimator`` whose ``RunConfig`` has a TPUStrategy for training or evaluation.

TensorFlow's Estimator runs strategies of other kinds itself.

Reference: https://github.com/tensorflow/docs/blob/r1.15/site/en/api_docs/python/tf/estimator/RunConfig.md
"""

from __future__ import annotations

import contextlib
import functools
import itertools
from typing import TYPE_CHECKING, Any

import tensorflow as tf

from tpudist import adapter
from tpudist.errors import ArgumentError
from tpudist.estimator import infeed, lookup, step_loop, user_functions
from tpudist.input.per_replica_datasets import PerReplicaDataset
from tpudist.strategy import contexts
from tpudist.tfcompat import functions, nests, versions

if TYPE_CHECKING:
    from typing import Iterator

    from tpudist.annotations import Dataset, EstimatorSpec, Fn, RunConfig, Scaffold, SessionRunHook
    from tpudist.input.per_replica_datasets import PerReplicaIterator
    from tpudist.tfcompat.annotations import Graph, Nest, Strategy, Tensor, Variable

_Estimator: Any = lookup.native().Estimator


class Estimator(_Estimator):
    """Estimator whose strategies may be tpudist's TPUStrategy (r1.15).

    Args:
      *args, **kwargs: as for ``tf.estimator.Estimator``: model_fn, model_dir, config,
        params, warm_start_from.
    """

    _mode = "infer"  # "train" or "eval" once one of these has begun

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._strategies = {mode: self._own_strategy(mode) for mode in ("train", "eval")}

    def _assert_members_are_not_overridden(self) -> None:
        """Allows the overrides below, which TensorFlow's Estimator would refuse."""

    def _own_strategy(self, mode: str) -> Strategy | None:
        """Returns the strategy of a mode if it is a TPUStrategy; the base class then has none."""
        strategy = getattr(self._config, mode + "_distribute")
        if not adapter.is_facade(strategy):
            return None
        setattr(self, "_%s_distribution" % mode, None)
        return strategy

    def _strategy(self, mode: str) -> Strategy | None:
        return getattr(self, "_strategies", {}).get(mode)

    # Overrides: the base class calls them.

    def _call_input_fn(self, input_fn: Fn, mode: str, *context: Any) -> Nest:
        strategy = self._strategy(mode)
        if strategy is None:
            made = super()._call_input_fn(input_fn, mode, *context)
            return user_functions.require_input(made)
        pipeline_ids = itertools.count()

        def dataset_of_host() -> Dataset:
            context = tf.distribute.InputContext(
                num_input_pipelines=adapter.num_hosts(strategy),
                input_pipeline_id=next(pipeline_ids),
                num_replicas_in_sync=adapter.num_replicas(strategy),
            )
            value = user_functions.call(
                input_fn, mode=mode, params=self.params, config=self.config, input_context=context
            )
            if isinstance(value, functions.DatasetV2):
                return value
            raise ArgumentError(
                "an input function returned %r" % (value,),
                "with a strategy each replica takes batches of a dataset",
                "return a tf.data.Dataset",
            )

        def make_iterator() -> PerReplicaIterator:
            dataset = adapter.per_replica_dataset(strategy, dataset_of_host, PerReplicaDataset)
            return dataset.make_initializable_iterator()

        return make_iterator

    def _create_global_step(self, graph: Graph) -> Variable:
        strategy = self._strategy(self._mode)
        if strategy is None:
            return super()._create_global_step(graph)
        with graph.as_default(), strategy.scope():
            return tf.compat.v1.train.create_global_step(graph)

    def _convert_train_steps_to_hooks(
        self, steps: int | None, max_steps: int | None
    ) -> list[SessionRunHook]:
        self._mode = "train"
        strategy = self._strategy("train")
        if strategy is None:
            return super()._convert_train_steps_to_hooks(steps, max_steps)
        return [step_loop.LoopHook(adapter.steps_per_run(strategy), steps, max_steps)]

    def _convert_eval_steps_to_hooks(self, steps: int | None) -> list[SessionRunHook]:
        self._mode = "eval"
        return super()._convert_eval_steps_to_hooks(steps)

    def _call_model_fn(
        self, features: object, labels: Nest, mode: str, config: RunConfig
    ) -> EstimatorSpec:
        # With a strategy `features` is what _call_input_fn returned: make_iterator.
        strategy = self._strategy(mode)
        if strategy is None or not callable(features):
            return super()._call_model_fn(features, labels, mode, config)
        call_model_fn = super()._call_model_fn

        @functools.wraps(self._model_fn)
        def model_fn(features: Nest, labels: Nest) -> EstimatorSpec:
            try:
                return call_model_fn(features, labels, mode, config)
            except ValueError as error:
                said = str(error)
                of_metric = said.startswith("eval_metric_ops with") and "default graph" in said
                if mode == "train" and of_metric:
                    raise _refused_metric(said) from error
                raise

        build_spec = _train_spec if mode == "train" else _eval_spec
        with strategy.scope(), _dividing_mean_loss(strategy):
            return build_spec(strategy, model_fn, features())


@contextlib.contextmanager
def _dividing_mean_loss(strategy: Strategy) -> Iterator[Any]:
    """Context manager: optimizers divide a mean loss, as wherever Estimator runs them."""
    if not versions.ESTIMATOR_ASKS_FOR_SCALING:
        yield
        return
    with strategy._scale_loss_for_estimator_enabled():
        yield


def _refused_metric(said: str) -> ArgumentError:
    """Explains why Estimator refuses a metric in training, which it checks and never runs.

    On devices (``cpus:N``) a metric whose update is an assignment is such a one: the steps are
    traced in a graph of their own, and the assigned variable belongs to the graph around it.
    """
    return ArgumentError(
        "EstimatorSpec in training: %s" % said.strip().splitlines()[0],
        "the training steps are traced in a graph of their own, and that metric is of another: on "
        "devices (cpus:N) each is whose update is an assignment (true_positives, mean_iou, ...)",
        "make eval_metric_ops only where mode is tf.estimator.ModeKeys.EVAL; training never runs "
        "them",
    )


def _train_spec(strategy: Strategy, model_fn: Fn, iterator: Any) -> EstimatorSpec:
    """Builds the specification of a training: loops of `steps_per_run` steps."""
    reductions = []

    def replica_outputs(spec: EstimatorSpec) -> dict[str, Tensor]:
        reductions.append(contexts.last_loss_reduction("SUM", "MEAN"))
        with tf.control_dependencies([spec.train_op]):
            return {"loss": tf.identity(step_loop.require_tensor("loss", spec.loss))}

    def set_outputs(outputs: Any, values: dict[str, Any]) -> None:
        outputs.set_tensor("loss", values["loss"], reductions[0])

    loop = step_loop.StepLoop(strategy, model_fn, replica_outputs, keeps_first_replica=False)
    train_op = loop.build(iterator, step_loop.iterations_per_loop(), set_outputs)
    spec = loop.spec
    hooks = [infeed.InitializerHook(iterator.initializer)]
    return lookup.load("EstimatorSpec")(
        mode="train",
        loss=loop.outputs.tensors["loss"],
        train_op=train_op,
        training_hooks=hooks + list(spec.training_hooks or ()),
        training_chief_hooks=spec.training_chief_hooks,
        scaffold=_host_scaffold(spec.scaffold),
    )


def _eval_spec(strategy: Strategy, model_fn: Fn, iterator: Any) -> EstimatorSpec:
    """Builds the specification of an evaluation: each batch is a Session run.

    The replicas are built in the Session's graph and not in a loop, because the ops of
    their metrics are run and read there.
    """
    element = iterator.get_next()
    features, labels = element if isinstance(element, tuple) else (element, None)
    specs: list[EstimatorSpec] = []

    def replica(features: Nest, labels: Nest) -> tuple[Tensor, dict[str, Any]]:
        spec = model_fn(features, labels)
        specs.append(spec)
        return step_loop.require_tensor("loss", spec.loss), dict(spec.eval_metric_ops or {})

    loss, metrics = adapter.replicate(strategy, replica, (features, labels), {})
    eval_metric_ops = {
        name: (
            adapter.local_results(strategy, value)[0],
            tf.group(*nests.flatten(adapter.local_results(strategy, update))),
        )
        for name, (value, update) in metrics.items()
    }
    hooks = [infeed.InitializerHook(iterator.initializer)]
    return lookup.load("EstimatorSpec")(
        mode="eval",
        loss=adapter.reduce(strategy, tf.distribute.ReduceOp.MEAN, loss, None),
        eval_metric_ops=eval_metric_ops,
        evaluation_hooks=hooks + list(specs[0].evaluation_hooks or ()),
        scaffold=_host_scaffold(specs[0].scaffold),
    )


def _host_scaffold(scaffold: Scaffold | None) -> Scaffold | None:
    """Returns a scaffold without those parts that are ops of a replica."""
    if scaffold is None:
        return None
    return tf.compat.v1.train.Scaffold(init_fn=scaffold.init_fn, saver=scaffold.saver)
