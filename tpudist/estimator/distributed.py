"""``Estimator`` with ``RunConfig(train_distribute=TPUStrategy(...), eval_distribute=...)``.

Reference: https://github.com/tensorflow/docs/blob/r1.15/site/en/api_docs/python/tf/estimator/RunConfig.md
TensorFlow's Estimator runs other strategies itself.
"""

from __future__ import annotations

import functools
import itertools
from typing import TYPE_CHECKING

import tensorflow as tf

from tpudist.core import adapter, contexts, loss_scaling
from tpudist.errors import ArgumentError
from tpudist.estimator import model_functions, monitored_sessions, names, tpu_hooks
from tpudist.estimator.replica_programs import Program, require_tensor
from tpudist.tfcompat import estimators, functions, nests

if TYPE_CHECKING:
    from typing import Any

_Estimator: Any = names.base()


class Estimator(_Estimator):
    """Estimator whose strategy may be one of tpudist's (r1.15).

    Args:
      *args, **kwargs: as for ``tf.estimator.Estimator``: model_fn, model_dir, config,
        params, warm_start_from.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """See the class; reference r1.15."""
        super().__init__(*args, **kwargs)
        self._strategies = {"train": self._taken("train"), "eval": self._taken("eval")}

    def _assert_members_are_not_overridden(self) -> None:
        """Overrides are this class' business."""

    def _taken(self, mode: str) -> Any:
        """The strategy of a mode, if it is one of tpudist's: taken out of the base's hands."""
        strategy = getattr(self._config, mode + "_distribute")
        if not adapter.is_facade(strategy):
            if strategy is not None and not estimators.HAS_ESTIMATOR:
                raise ArgumentError(
                    "%s_distribute=%r" % (mode, strategy),
                    "from TensorFlow 2.16 on there is no tf.estimator, and tpudist's runs a "
                    "TPUStrategy of its own",
                    "tf.distribute.experimental.TPUStrategy of a tpudist surface",
                )
            return None
        setattr(self, "_%s_distribution" % mode, None)
        return strategy

    def _strategy(self, mode: str) -> Any:
        return getattr(self, "_strategies", {}).get(mode)

    # What the base calls.

    def _call_input_fn(self, input_fn: Any, mode: str, *context: Any) -> Any:
        strategy = self._strategy(mode)
        if strategy is None:
            return super()._call_input_fn(input_fn, mode, *context)
        numbers = itertools.count()

        def of_host() -> Any:
            context = tf.distribute.InputContext(
                num_input_pipelines=adapter.num_hosts(strategy),
                input_pipeline_id=next(numbers),
                num_replicas_in_sync=adapter.num_replicas(strategy),
            )
            given = model_functions.call(
                input_fn, mode=mode, params=self.params, config=self.config, input_context=context
            )
            return _dataset(given)

        def iterator() -> Any:
            return adapter.per_replica_dataset(strategy, of_host).make_initializable_iterator()

        return iterator

    def _create_global_step(self, graph: Any) -> Any:
        strategy = self._strategies["train"] or self._strategies["eval"]
        if strategy is None:
            return super()._create_global_step(graph)
        with graph.as_default(), strategy.scope():
            return tf.compat.v1.train.create_global_step(graph)

    def _convert_train_steps_to_hooks(self, steps: Any, max_steps: Any) -> list[Any]:
        strategy = self._strategy("train")
        if strategy is None:
            hooks: list[Any] = super()._convert_train_steps_to_hooks(steps, max_steps)
            return hooks
        return [tpu_hooks.LoopHook(adapter.steps_per_run(strategy), steps, max_steps)]

    def _call_model_fn(self, features: Any, labels: Any, mode: str, config: Any) -> Any:
        strategy = self._strategy(mode)
        if strategy is None or not callable(features):
            return super()._call_model_fn(features, labels, mode, config)
        own = super()._call_model_fn

        @functools.wraps(self._model_fn)
        def model_fn(features: Any, labels: Any) -> Any:
            return own(features, labels, mode, config)

        build = _train if mode == "train" else _evaluate
        with strategy.scope(), loss_scaling.of_estimator(strategy):
            return build(strategy, model_fn, features())


def _dataset(given: Any) -> Any:
    if isinstance(given, functions.DatasetV2):
        return given
    raise ArgumentError(
        "an input function returned %r" % (given,),
        "with a strategy each replica takes batches of a dataset",
        "return a tf.data.Dataset",
    )


def _train(strategy: Any, model_fn: Any, iterator: Any) -> Any:
    """The ``EstimatorSpec`` of a training: loops of `steps_per_run` steps."""
    reductions = []

    def values(spec: Any) -> dict[str, Any]:
        reductions.append(contexts.last_loss_reduction("SUM", "MEAN"))
        with tf.control_dependencies([spec.train_op]):
            return {"loss": tf.identity(require_tensor("loss", spec.loss))}

    def use(outputs: Any, found: dict[str, Any]) -> None:
        outputs.set_tensor("loss", found["loss"], reductions[0])

    program = Program(strategy, model_fn, values, own_variables=False)
    loop = program.run(iterator, tpu_hooks.iterations(), use)
    spec = program.spec
    hooks = [monitored_sessions.InitializerHook(iterator.initializer)]
    return names.load("EstimatorSpec")(
        mode="train",
        loss=program.outputs.tensors["loss"],
        train_op=loop,
        training_hooks=hooks + list(spec.training_hooks or ()),
        training_chief_hooks=spec.training_chief_hooks,
        scaffold=_scaffold(spec.scaffold),
    )


def _evaluate(strategy: Any, model_fn: Any, iterator: Any) -> Any:
    """The ``EstimatorSpec`` of an evaluation: each batch a Session run, outside of loops.

    What a metric gives is read in the Session's graph, so the replicas are built there.
    """
    element = iterator.get_next()
    features, labels = element if isinstance(element, tuple) else (element, None)
    specs: list[Any] = []

    def replica(features: Any, labels: Any) -> Any:
        spec = model_fn(features, labels)
        specs.append(spec)
        return require_tensor("loss", spec.loss), dict(spec.eval_metric_ops or {})

    loss, metrics = adapter.replicate(strategy, replica, (features, labels), {})
    joined = {
        name: (
            adapter.local_results(strategy, value)[0],
            tf.group(*nests.flatten(adapter.local_results(strategy, update))),
        )
        for name, (value, update) in metrics.items()
    }
    hooks = [monitored_sessions.InitializerHook(iterator.initializer)]
    return names.load("EstimatorSpec")(
        mode="eval",
        loss=adapter.reduce(strategy, tf.distribute.ReduceOp.MEAN, loss, None),
        eval_metric_ops=joined,
        evaluation_hooks=hooks + list(specs[0].evaluation_hooks or ()),
        scaffold=_scaffold(specs[0].scaffold),
    )


def _scaffold(given: Any) -> Any:
    """The parts of a replica's scaffold that are no ops of the replica."""
    if given is None:
        return None
    return tf.compat.v1.train.Scaffold(init_fn=given.init_fn, saver=given.saver)
