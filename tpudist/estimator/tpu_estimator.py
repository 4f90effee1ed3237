"""Defines ``TPUEstimator``: an Estimator whose model function runs on the cores of a TPU.

Reference: https://github.com/tensorflow/docs/blob/r1.15/site/en/api_docs/python/tf/estimator/tpu/TPUEstimator.md
and, of the cores of a replica, .../tpu/TPUConfig.md
"""

from __future__ import annotations

import contextlib
import functools
import math
from typing import TYPE_CHECKING

import numpy as np
import tensorflow as tf

from tpudist import adapter
from tpudist.errors import ArgumentError, ArgumentTypeError
from tpudist.estimator import infeed, lookup, step_loop, tpu_specs, unsupported, user_functions
from tpudist.strategy import base_classes
from tpudist.system import cluster, placement
from tpudist.tfcompat import devices, estimators

if TYPE_CHECKING:
    from typing import Any, Iterator

    from tpudist.annotations import (
        Assignment,
        EstimatorSpec,
        Fn,
        Resolver,
        RunConfig,
        SessionRunHook,
        Strategy,
    )
    from tpudist.estimator.train_distribute import Estimator as _Estimator
    from tpudist.tfcompat.annotations import Graph, Nest, Variable
else:
    _Estimator = lookup.load("Estimator")

#: {mode: the argument of the constructor that is its global batch size}
_BATCH_SIZES = {
    "train": "train_batch_size",
    "eval": "eval_batch_size",
    "infer": "predict_batch_size",
}
_RESERVED_PARAMS = ("batch_size", "context")
#: The constructor's first arguments, up to the last one that `__new__` reads.
_FIRST_ARGUMENTS = ("model_fn", "model_dir", "config", "params", "use_tpu")


class TPUEstimator(_Estimator):
    """Estimator whose model function runs on the cores of a TPU (r1.15).

    On a real TPU it is TensorFlow's own TPUEstimator, where TensorFlow has one (until 2.15).

    Args:
      model_fn: ``model_fn(features, labels, mode, config, params)``; returns a
        `TPUEstimatorSpec`. ``params["batch_size"]`` is the batch size of one replica.
      model_dir: folder of checkpoints and summaries.
      config: a `tf.contrib.tpu.RunConfig`.
      params: a dictionary (or HParams) for both functions.
      use_tpu: whether to use the TPU; False is an Estimator on this machine.
      train_batch_size, eval_batch_size, predict_batch_size: examples of a step over all
        replicas, which share them evenly.
      batch_axis: the dimension of (features, labels) to split a host's batch along.
      eval_on_tpu: False evaluates without the TPU.
      export_to_tpu: True warns when a model is exported, because an export has only the
        graph for serving without a TPU.
      export_to_cpu: True; there is no other graph.
      warm_start_from: a checkpoint, or `tf.estimator.WarmStartSettings`.
      embedding_config_spec: None; the embedding hardware of a TPU is not supported.
      export_saved_model_api_version: ignored; it chooses the graph for serving on a TPU.

    Raises:
      ArgumentError: (a ValueError) a batch size that the replicas cannot share evenly, or
        another value that is not supported.
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> TPUEstimator:
        """Returns TensorFlow's own TPUEstimator on a real TPU; see the class."""
        arguments = dict(zip(_FIRST_ARGUMENTS, args), **kwargs)
        native = estimators.native_tpu_estimator
        if cls is TPUEstimator and native is not None and _on_real_tpu(arguments):
            return native(*args, **kwargs)
        return super().__new__(cls)

    def __init__(
        self,
        model_fn: Fn | None = None,
        model_dir: str | None = None,
        config: RunConfig = None,
        params: object = None,
        use_tpu: bool = True,
        train_batch_size: int | None = None,
        eval_batch_size: int | None = None,
        predict_batch_size: int | None = None,
        batch_axis: object = None,
        eval_on_tpu: bool = True,
        export_to_tpu: bool = True,
        export_to_cpu: bool = True,
        warm_start_from: object = None,
        embedding_config_spec: object = None,
        export_saved_model_api_version: object = None,
    ) -> None:
        _check_arguments(model_fn, config, params)
        unsupported.check_arguments(export_to_cpu, embedding_config_spec)
        self._user_model_fn: Any = model_fn
        self._use_tpu = use_tpu
        self._eval_on_tpu = eval_on_tpu
        self._batch_axis = batch_axis
        self._batch_sizes = {
            "train": train_batch_size,
            "eval": eval_batch_size,
            "infer": predict_batch_size,
        }
        self._export_to_tpu = export_to_tpu
        self._tpu_strategy: Strategy = None
        self._has_called_input_fn = False
        self.log_every_n_steps = config.log_step_count_steps
        if use_tpu:
            self._tpu_strategy = self._start_tpu(config)
            config = config.replace(log_step_count_steps=None)
        super().__init__(
            model_fn=self._model_fn_on_tpu,
            model_dir=model_dir,
            config=config,
            params=params or {},
            warm_start_from=warm_start_from,
        )
        if use_tpu:
            devices.configure(self._session_config)

    def _assert_members_are_not_overridden(self) -> None:
        """Allows the overrides below, which TensorFlow's Estimator would refuse."""

    def _start_tpu(self, config: RunConfig) -> Strategy:
        unsupported.check_config(config.tpu_config)
        resolver = _resolver(config)
        unsupported.check_real_tpu(cluster.system_of(resolver) is not None)
        unsupported.check_cluster(cluster.system_of(resolver))
        assignment = _assignment(resolver, config.tpu_config.num_cores_per_replica)
        strategy = TPUEstimatorStrategy(resolver, assignment)
        num_shards, num_replicas = config.tpu_config.num_shards, adapter.num_replicas(strategy)
        if num_shards not in (None, num_replicas):
            raise ArgumentError(
                "num_shards=%s on a TPU of %d replicas" % (num_shards, num_replicas),
                "it is the number of replicas: the TPU's cores, divided by num_cores_per_replica",
                "no num_shards, or num_shards=%d" % num_replicas,
            )
        if self._batch_sizes["train"] is None:
            raise ArgumentError(
                "train_batch_size=None with use_tpu=True",
                "the batch of a replica is its share of it",
                "train_batch_size=1024",
            )
        return strategy

    def _feeding(self, mode: str, config: RunConfig) -> infeed.Feeding:
        argument, batch_size = _BATCH_SIZES[mode], self._batch_sizes[mode]
        if batch_size is None:
            raise ArgumentError(
                "%s=None" % argument,
                "the batch of a replica is its share of it",
                "TPUEstimator(..., %s=1024), or use_tpu=False" % argument,
            )
        if isinstance(batch_size, bool) or not isinstance(batch_size, int) or batch_size < 1:
            raise ArgumentError(
                "%s=%r" % (argument, batch_size),
                "it is a number of examples, at least one for each replica",
                "%s=1024" % argument,
            )
        pipeline = int(config.tpu_config.per_host_input_for_training)
        eval_pipeline = getattr(config.tpu_config, "eval_training_input_configuration", None)
        if mode == "eval" and eval_pipeline == infeed.SLICED:
            pipeline = infeed.SLICED
        if mode != "train" and pipeline == infeed.PER_SHARD_V1:
            pipeline = infeed.PER_HOST_V1
        return infeed.feeding(self._tpu_strategy, pipeline, batch_size, argument)

    def _runs_on_tpu(self, mode: str) -> bool:
        """Whether the mode runs on the TPU; an export, which has no input function, does not."""
        if not self._use_tpu or not self._has_called_input_fn:
            return False
        return self._eval_on_tpu or mode != "eval"

    def train(self, *args: Any, **kwargs: Any) -> TPUEstimator:
        """Trains the model; arguments as of Estimator (r1.15)."""
        result = super().train(*args, **kwargs)
        if self._tpu_strategy is not None:
            adapter.meet(self._tpu_strategy)  # all workers go on with the chief's checkpoint
        return result

    # Overrides: the base class calls them.

    def _call_input_fn(self, input_fn: Fn, mode: str, *unused_context: Any) -> Nest:
        user_functions.require_params(input_fn, "input_fn")
        self._has_called_input_fn = True

        def input_fn_of_host(context: infeed.TPUContext) -> Nest:
            batch_size = self._feeding(mode, self.config).input_fn_batch_size
            return self._input(input_fn, mode, batch_size=batch_size, context=context)

        if self._runs_on_tpu(mode):
            return input_fn_of_host
        with tf.device("/device:CPU:0"):
            return self._input(input_fn, mode, **self._global_batch_size(mode))

    def _global_batch_size(self, mode: str) -> dict[str, int]:
        """Returns the item of ``params`` that says the batch size where there is no TPU."""
        batch_size = self._batch_sizes[mode]
        return {} if batch_size is None else {"batch_size": batch_size}

    def _input(self, input_fn: Fn, mode: str, **items: Any) -> Nest:
        params = user_functions.with_items(self.params, **items)
        made = user_functions.call(input_fn, params=params, config=self.config, mode=mode)
        return user_functions.require_input(made)

    def _validate_features_in_predict_input(self, result: object) -> None:
        """Checks nothing: the infeed checks the input of a prediction."""

    def _create_global_step(self, graph: Graph) -> Variable:
        if self._tpu_strategy is None:
            return super()._create_global_step(graph)
        with graph.as_default(), self._tpu_strategy.scope(), step_loop.first_replica_variables():
            return tf.compat.v1.train.create_global_step(graph)

    def _convert_train_steps_to_hooks(
        self, steps: int | None, max_steps: int | None
    ) -> list[SessionRunHook]:
        if not self._use_tpu:
            return super()._convert_train_steps_to_hooks(steps, max_steps)
        if steps is None and max_steps is None:
            raise ArgumentError(
                "train() with steps=None and max_steps=None",
                "the device runs loops of iterations_per_loop steps, and has to know the last one",
                "train(input_fn, max_steps=10000)",
            )
        per_loop = self.config.tpu_config.iterations_per_loop
        return [step_loop.LoopHook(per_loop, steps, max_steps)]

    def _convert_eval_steps_to_hooks(self, steps: int | None) -> list[SessionRunHook]:
        if not (self._use_tpu and self._eval_on_tpu):
            return super()._convert_eval_steps_to_hooks(steps)
        if steps is None:
            raise ArgumentError(
                "evaluate() with steps=None on a TPU",
                "the device has to know how many steps to run",
                "evaluate(input_fn, steps=num_examples // eval_batch_size)",
            )
        return [estimators.StopAfterNEvalsHook(num_evals=steps)]

    def export_saved_model(self, *args: Any, **kwargs: Any) -> bytes:
        """Exports the model, for serving without a TPU; arguments as of Estimator (r1.15)."""
        unsupported.warn_of_export(self._export_to_tpu)
        with self._without_strategy():
            return super().export_saved_model(*args, **kwargs)

    def export_savedmodel(self, *args: Any, **kwargs: Any) -> bytes:
        """Exports the model; the older name of `export_saved_model` (r1.15)."""
        unsupported.warn_of_export(self._export_to_tpu)
        with self._without_strategy():
            return super().export_savedmodel(*args, **kwargs)

    @contextlib.contextmanager
    def _without_strategy(self) -> Iterator[None]:
        """Context manager: the global step is a plain variable, on no device of the TPU."""
        strategy, self._tpu_strategy = self._tpu_strategy, None
        try:
            yield
        finally:
            self._tpu_strategy = strategy

    # The model function that the base class calls.

    def _model_fn_on_tpu(
        self, features: Any, labels: Nest, mode: str, config: RunConfig, params: object
    ) -> EstimatorSpec:
        """Returns the specification of the user's model function on the TPU."""
        on_tpu = self._runs_on_tpu(mode)
        is_export, self._has_called_input_fn = not self._has_called_input_fn, False
        if not on_tpu:
            size = {} if is_export else self._global_batch_size(mode)
            spec = self._user_spec(features, labels, mode, config, params, use_tpu=False, **size)
            return spec.as_estimator_spec() if hasattr(spec, "as_estimator_spec") else spec
        strategy, feeding = self._tpu_strategy, self._feeding(mode, config)
        items: dict[str, Any] = {
            "batch_size": feeding.model_fn_batch_size,
            "context": infeed.TPUContext(strategy, feeding),
        }

        dims = [*(config.tpu_config.input_partition_dims or ()), None, None]  # of both

        @functools.wraps(self._user_model_fn)
        def model_fn(features: Nest, labels: Nest) -> EstimatorSpec:
            features = _split(strategy, features, dims[0])
            labels = _split(strategy, labels, dims[1])
            return self._user_spec(features, labels, mode, config, params, use_tpu=True, **items)

        model = tpu_specs.ReplicatedModel(strategy, feeding, model_fn, features, self._batch_axis)
        if mode == "train":
            return model.train_spec(self.model_dir, self.log_every_n_steps, config)
        return model.eval_spec() if mode == "eval" else model.predict_spec()

    def _user_spec(
        self, features: Nest, labels: Nest, mode: str, config: RunConfig, params: Any, **items: Any
    ) -> EstimatorSpec:
        return user_functions.call(
            self._user_model_fn,
            features,
            labels=labels,
            mode=mode,
            config=config,
            params=user_functions.with_items(params, **items),
        )


class TPUEstimatorStrategy(base_classes.TPUStrategyBaseV1):
    """The strategy of a TPUEstimator, which its user never sees.

    The model function is traced once for all replicas, as on a TPU.
    """

    def __init__(self, resolver: Resolver, assignment: Assignment = None) -> None:
        adapter.initialize(self, resolver, assignment)


def _assignment(resolver: Resolver, cores_per_replica: int | None) -> Assignment:
    """Assigns a block of neighbouring cores to each replica; None where a replica is one core."""
    if cores_per_replica in (None, 1):
        return None
    system = cluster.system_of(resolver)
    if system is None:
        topology = cluster.start_native(resolver)
    else:
        topology = placement.topology(system)
    mesh = [int(size) for size in topology.mesh_shape]
    block, cores_left = [1] * len(mesh), int(cores_per_replica or 1)
    # The cores of one chip first, then chips along y and x, then along further dimensions.
    for axis in [len(mesh) - 1, *range(1, -1, -1), *range(2, len(mesh) - 1)]:
        block[axis] = math.gcd(mesh[axis], cores_left)
        cores_left //= block[axis]
    if cores_left > 1:
        raise ArgumentError(
            "num_cores_per_replica=%s on a mesh of %s" % (cores_per_replica, mesh),
            "the cores of a replica are neighbours, a block that divides the mesh",
            "num_cores_per_replica=%d" % np.prod(block),
        )
    num_replicas = int(np.prod(mesh) // np.prod(block))
    return placement.DeviceAssignment.build(topology, block, num_replicas=num_replicas)


def _split(strategy: Strategy, nest: Nest, dims: Any) -> Nest:
    """Splits the input of a replica among its cores, by ``input_partition_dims``."""
    if dims is None:
        return nest
    if not isinstance(dims, dict) and all(isinstance(size, int) for size in dims):
        return adapter.split_to_logical_devices(strategy, nest, dims)
    if isinstance(dims, dict) and isinstance(nest, dict) and set(dims) == set(nest):
        return {name: _split(strategy, nest[name], dims[name]) for name in nest}
    if isinstance(nest, (list, tuple)) and not isinstance(dims, dict) and len(nest) == len(dims):
        return [_split(strategy, item, item_dims) for item, item_dims in zip(nest, dims)]
    raise ArgumentError(
        "input_partition_dims with %r for the input %r" % (dims, nest),
        "it has the structure of the input, with a list of numbers or None for each tensor",
        "input_partition_dims=[{'image': [1, 2, 1, 1], 'name': None}, None]",
    )


def _resolver(config: RunConfig) -> Resolver:
    return cluster.resolve(config.cluster or config.master or "")


def _on_real_tpu(arguments: dict[str, Any]) -> bool:
    """Whether arguments of a TPUEstimator name a TPU that is not virtual."""
    config = arguments.get("config")
    if not arguments.get("use_tpu", True) or not hasattr(config, "tpu_config"):
        return False
    return cluster.system_of(_resolver(config)) is None


def _check_arguments(model_fn: Any, config: RunConfig, params: Any) -> None:
    if not hasattr(config, "tpu_config"):
        raise ArgumentTypeError(
            "config=%r" % (config,),
            "a TPUEstimator reads the steps of a loop, its kind of input and the TPU from its "
            "config",
            "config=tf.contrib.tpu.RunConfig(cluster=resolver, tpu_config=TPUConfig(...))",
        )
    reserved = [name for name in _RESERVED_PARAMS if params is not None and name in params]
    if reserved:
        raise ArgumentError(
            "params with %s" % ", ".join(map(repr, reserved)),
            "TPUEstimator sets them for both functions: they depend on the TPU",
            "another name; the batch size is TPUEstimator(train_batch_size=...)",
        )
    user_functions.require_params(model_fn, "model_fn")
