"""``TPUEstimator``.

Reference: https://github.com/tensorflow/docs/blob/r1.15/site/en/api_docs/python/tf/estimator/tpu/TPUEstimator.md
"""

from __future__ import annotations

import contextlib
import functools
from typing import TYPE_CHECKING

import tensorflow as tf

from tpudist.core import cluster
from tpudist.errors import ArgumentError, ArgumentTypeError
from tpudist.estimator import (
    model_functions,
    names,
    partitions,
    refused,
    replica_programs,
    tpu_context,
    tpu_hooks,
    tpu_part,
)
from tpudist.tfcompat import estimators

if TYPE_CHECKING:
    from typing import Any, Callable, Iterator

_Estimator: Any = names.load("Estimator")

#: {mode: name of its batch size among the arguments of the constructor}
_BATCHES = {"train": "train_batch_size", "eval": "eval_batch_size", "infer": "predict_batch_size"}
_RESERVED = ("batch_size", "context")
#: The first arguments of the constructor, as many as say what it runs on.
_ARGUMENTS = ("model_fn", "model_dir", "config", "params", "use_tpu")


class TPUEstimator(_Estimator):
    """Estimator whose model function runs on the cores of a TPU (r1.15).

    On a real TPU it is TensorFlow's own TPUEstimator, where TensorFlow has one (until 2.15).

    Args:
      model_fn: ``model_fn(features, labels, mode, config, params)``; returns a
        `TPUEstimatorSpec`. ``params["batch_size"]`` is the batch of one core.
      model_dir: folder of checkpoints and summaries.
      config: a `tf.contrib.tpu.RunConfig`.
      params: a dictionary (or HParams) for both functions.
      use_tpu: whether to use the TPU; False is an Estimator on this machine.
      train_batch_size, eval_batch_size, predict_batch_size: examples of a step over all
        cores, which divide them evenly.
      batch_axis: the dimension of (features, labels) to split a host's batch along.
      eval_on_tpu: False evaluates without the TPU.
      export_to_tpu: exports have a graph for serving without a TPU only; True is said
        when a model is exported.
      export_to_cpu: True; there is no other graph.
      warm_start_from: a checkpoint, or `tf.estimator.WarmStartSettings`.
      embedding_config_spec: None: the embedding hardware of a TPU has no counterpart here.
      export_saved_model_api_version: as `export_to_tpu`, of which it is a kind.

    Raises:
      ArgumentError: (a ValueError) a batch size that the cores cannot share evenly, or an
        argument of that kind.
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """TensorFlow's own on a real TPU; see the class."""
        given = dict(zip(_ARGUMENTS, args), **kwargs)
        if cls is TPUEstimator and estimators.native_tpu is not None and _on_a_real_tpu(given):
            return estimators.native_tpu["TPUEstimator"](*args, **kwargs)
        return super().__new__(cls)

    def __init__(
        self,
        model_fn: Callable[..., Any] | None = None,
        model_dir: str | None = None,
        config: Any = None,
        params: Any = None,
        use_tpu: bool = True,
        train_batch_size: int | None = None,
        eval_batch_size: int | None = None,
        predict_batch_size: int | None = None,
        batch_axis: Any = None,
        eval_on_tpu: bool = True,
        export_to_tpu: bool = True,
        export_to_cpu: bool = True,
        warm_start_from: Any = None,
        embedding_config_spec: Any = None,
        export_saved_model_api_version: Any = None,
    ) -> None:
        """See the class; reference r1.15."""
        _check(model_fn, config, params)
        refused.check_arguments(export_to_cpu, embedding_config_spec)
        self._users_fn: Any = model_fn
        self._use_tpu = use_tpu
        self._eval_on_tpu = eval_on_tpu
        self._batch_axis = batch_axis
        self._batches = {
            "train": train_batch_size,
            "eval": eval_batch_size,
            "infer": predict_batch_size,
        }
        self._export_to_tpu = export_to_tpu
        self._cores: Any = None
        self._has_called_input_fn = False
        self.log_every_n_steps = config.log_step_count_steps
        if use_tpu:
            self._start_tpu(config)
            config = config.replace(log_step_count_steps=None)
        super().__init__(
            model_fn=self._on_cores,
            model_dir=model_dir,
            config=config,
            params=params or {},
            warm_start_from=warm_start_from,
        )

    def _assert_members_are_not_overridden(self) -> None:
        """Overrides are this class' business."""

    def _start_tpu(self, config: Any) -> None:
        refused.check_config(config.tpu_config)
        resolver = _resolver(config)
        refused.check_tpu(cluster.system_of(resolver) is not None)
        placed = partitions.assignment(resolver, config.tpu_config.num_cores_per_replica)
        self._cores = replica_programs.Cores(resolver, placed)
        partitions.require_shards(self._cores, config.tpu_config)
        if self._batches["train"] is None:
            raise ArgumentError(
                "train_batch_size=None with use_tpu=True",
                "the batch of a core is its share of it",
                "train_batch_size=1024",
            )

    def _fed(self, mode: str, config: Any) -> Any:
        """The `Feeding` of a mode."""
        batch = self._batches[mode]
        if batch is None:
            raise ArgumentError(
                "%s=None" % _BATCHES[mode],
                "the batch of a core is its share of it",
                "TPUEstimator(..., %s=1024), or use_tpu=False" % _BATCHES[mode],
            )
        if isinstance(batch, bool) or not isinstance(batch, int) or batch < 1:
            raise ArgumentError(
                "%s=%r" % (_BATCHES[mode], batch),
                "it is a number of examples, at least one for each core",
                "%s=1024" % _BATCHES[mode],
            )
        how = int(config.tpu_config.per_host_input_for_training)
        sliced = getattr(config.tpu_config, "eval_training_input_configuration", None)
        if mode == "eval" and sliced == tpu_context.SLICED:
            how = tpu_context.SLICED
        if mode != "train" and how == tpu_context.PER_SHARD_V1:
            how = tpu_context.PER_HOST_V1
        return tpu_context.feeding(self._cores, how, batch, _BATCHES[mode])

    def _runs_on_tpu(self, mode: str) -> bool:
        if not self._use_tpu or not self._has_called_input_fn:
            return False
        return self._eval_on_tpu or mode != "eval"

    # What an Estimator calls.

    def _call_input_fn(self, input_fn: Any, mode: str, *unused_context: Any) -> Any:
        model_functions.require_params(input_fn, "input_fn")
        self._has_called_input_fn = True

        def on_hosts(context: Any) -> Any:
            fed = self._fed(mode, self.config)
            items = {"batch_size": fed.input_batch, "context": context}
            return self._input(input_fn, mode, items)

        if self._runs_on_tpu(mode):
            return on_hosts
        batch = self._batches[mode]
        with tf.device("/device:CPU:0"):
            return self._input(input_fn, mode, {} if batch is None else {"batch_size": batch})

    def _input(self, input_fn: Any, mode: str, items: dict[str, Any]) -> Any:
        params = model_functions.with_items(self.params, **items)
        return model_functions.call(input_fn, params=params, config=self.config, mode=mode)

    def _validate_features_in_predict_input(self, result: Any) -> None:
        """The input of the cores is checked where they are fed."""

    def _create_global_step(self, graph: Any) -> Any:
        if self._cores is None:
            return super()._create_global_step(graph)
        with graph.as_default(), self._cores.scope(), replica_programs.variables_of_cores():
            return tf.compat.v1.train.create_global_step(graph)

    def _convert_train_steps_to_hooks(self, steps: Any, max_steps: Any) -> list[Any]:
        if not self._use_tpu:
            return super()._convert_train_steps_to_hooks(steps, max_steps)
        if steps is None and max_steps is None:
            raise ArgumentError(
                "train() with steps=None and max_steps=None",
                "the device runs loops of iterations_per_loop steps, and has to know the last one",
                "train(input_fn, max_steps=10000)",
            )
        per_loop = self.config.tpu_config.iterations_per_loop
        return [tpu_hooks.LoopHook(per_loop, steps, max_steps)]

    def _convert_eval_steps_to_hooks(self, steps: Any) -> list[Any]:
        if not (self._use_tpu and self._eval_on_tpu):
            return super()._convert_eval_steps_to_hooks(steps)
        if steps is None:
            raise ArgumentError(
                "evaluate() with steps=None on a TPU",
                "the device has to know how many steps to run",
                "evaluate(input_fn, steps=num_examples // eval_batch_size)",
            )
        return [estimators.StopAfterNEvalsHook(num_evals=steps)]

    # The model function that the Estimator calls.

    def _on_cores(self, features: Any, labels: Any, mode: str, config: Any, params: Any) -> Any:
        on_tpu = self._runs_on_tpu(mode)
        exports, self._has_called_input_fn = not self._has_called_input_fn, False
        if not on_tpu:
            batch = None if exports else self._batches[mode]
            given = {} if batch is None else {"batch_size": batch}
            spec = self._users_spec(features, labels, mode, config, params, given)
            return spec.as_estimator_spec() if hasattr(spec, "as_estimator_spec") else spec
        fed = self._fed(mode, config)
        context = tpu_context.TPUContext(self._cores, fed)
        items: dict[str, Any] = {"batch_size": fed.model_batch, "context": context}

        @functools.wraps(self._users_fn)
        def model_fn(features: Any, labels: Any) -> Any:
            features, labels = partitions.split(self._cores, config.tpu_config, features, labels)
            return self._users_spec(features, labels, mode, config, params, items)

        model = tpu_part.Model(self._cores, fed, model_fn, features, self._batch_axis)
        build = {"train": tpu_part.train_spec, "eval": tpu_part.eval_spec}
        return build.get(mode, tpu_part.predict_spec)(self, model, config)

    def export_saved_model(self, *args: Any, **kwargs: Any) -> Any:
        """Exports the model, for serving without a TPU; arguments as of Estimator (r1.15)."""
        refused.tell_of_export(self._export_to_tpu)
        with self._without_cores():
            return super().export_saved_model(*args, **kwargs)

    def export_savedmodel(self, *args: Any, **kwargs: Any) -> Any:
        """The name of `export_saved_model` until 1.15 (r1.15)."""
        refused.tell_of_export(self._export_to_tpu)
        with self._without_cores():
            return super().export_savedmodel(*args, **kwargs)

    @contextlib.contextmanager
    def _without_cores(self) -> Iterator[None]:
        """In the block the global step is no variable of the cores, whose device it would name."""
        cores, self._cores = self._cores, None
        try:
            yield
        finally:
            self._cores = cores

    def _users_spec(
        self, features: Any, labels: Any, mode: str, config: Any, params: Any, items: Any
    ) -> Any:
        params = model_functions.with_items(params, use_tpu="context" in items, **items)
        offered = dict(labels=labels, mode=mode, config=config, params=params)
        return model_functions.call(self._users_fn, features, **offered)


def _resolver(config: Any) -> Any:
    return cluster.resolve(config.cluster or config.master or "")


def _on_a_real_tpu(given: dict[str, Any]) -> bool:
    """Whether arguments of a TPUEstimator name a TPU that is not virtual."""
    config = given.get("config")
    if not given.get("use_tpu", True) or not hasattr(config, "tpu_config"):
        return False
    return cluster.system_of(_resolver(config)) is None


def _check(model_fn: Any, config: Any, params: Any) -> None:
    if not hasattr(config, "tpu_config"):
        raise ArgumentTypeError(
            "config=%r" % (config,),
            "a TPUEstimator takes steps of a loop, its kind of input and the TPU from its config",
            "config=tf.contrib.tpu.RunConfig(cluster=resolver, tpu_config=TPUConfig(...))",
        )
    reserved = [name for name in _RESERVED if params is not None and name in params]
    if reserved:
        raise ArgumentError(
            "params with %s" % ", ".join(map(repr, reserved)),
            "TPUEstimator sets them for both functions: they depend on the TPU",
            "another name; the batch is TPUEstimator(train_batch_size=...)",
        )
    model_functions.require_params(model_fn, "model_fn")
