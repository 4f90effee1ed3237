"""Stands in for ``tf.estimator.Estimator`` and ``WarmStartSettings``.

It builds the graph of each training, evaluation and prediction;
:mod:`tpudist.estimator.stand_ins.sessions` runs them, and
:mod:`tpudist.estimator.stand_ins.saved_models` exports them.

Reference: https://github.com/tensorflow/docs/blob/r1.15/site/en/api_docs/python/tf/estimator/Estimator.md
"""

from __future__ import annotations

import copy
import os
import tempfile
from typing import TYPE_CHECKING, Any, Callable, Iterator, NamedTuple, Sequence

import tensorflow as tf

from tpudist.errors import ArgumentError, ArgumentTypeError
from tpudist.estimator import checkpoints, infeed, user_functions
from tpudist.estimator.stand_ins import configs, saved_models, sessions, specs
from tpudist.tfcompat import estimators, functions

if TYPE_CHECKING:
    from tpudist.core.annotations import (
        Fn,
        Graph,
        Nest,
        RunConfig,
        SaverListener,
        SessionRunHook,
        Variable,
    )

_v1 = tf.compat.v1


class WarmStartSettings(NamedTuple):
    """Says which variables start from a checkpoint (r1.15).

    Args:
      ckpt_to_initialize_from: a checkpoint, or a folder with one.
      vars_to_warm_start: a pattern, or a list of variables or names; None for only those of
        `var_name_to_vocab_info`.
      var_name_to_vocab_info: ``{variable: VocabInfo}``.
      var_name_to_prev_var_name: ``{variable: its name in the checkpoint}``.
    """

    ckpt_to_initialize_from: str
    vars_to_warm_start: Any = ".*"
    var_name_to_vocab_info: Any = None
    var_name_to_prev_var_name: Any = None


class Estimator:
    """Trains, evaluates and predicts with a model function (r1.15).

    Args:
      model_fn: ``model_fn(features, labels, mode, params, config)``, of whose arguments
        only the first is required; returns an `EstimatorSpec`.
      model_dir: folder of checkpoints and summaries; None for the config's, or a new one.
      config: a `RunConfig`.
      params: a dictionary (or HParams) for the model function and input functions.
      warm_start_from: a checkpoint, or a `WarmStartSettings`.

    Raises:
      ArgumentError: (a ValueError) no model function, or a folder that is not the config's.
    """

    def __init__(
        self,
        model_fn: Fn | None,
        model_dir: str | None = None,
        config: RunConfig = None,
        params: Any = None,
        warm_start_from: Any = None,
    ) -> None:
        if model_fn is None:
            raise ArgumentError(
                "model_fn=None", "model_fn must be provided to Estimator", "Estimator(model_fn)"
            )
        config = config or configs.RunConfig()
        if model_dir and config.model_dir and model_dir != config.model_dir:
            raise ArgumentError(
                "model_dir=%r and a config with model_dir=%r" % (model_dir, config.model_dir),
                "model_dir are set both in constructor and RunConfig, but with different values",
                "one of them",
            )
        folder = str(model_dir or config.model_dir or tempfile.mkdtemp())
        self._config = config.replace(model_dir=folder)
        self._model_fn = model_fn
        self._model_dir = folder
        self._params = copy.deepcopy(params or {})
        self._warm_start_settings = _warm_start_settings(warm_start_from)
        self._session_config = self._config.session_config

    @property
    def model_dir(self) -> str:
        """Folder of checkpoints and summaries (r1.15)."""
        return self._model_dir

    @property
    def config(self) -> RunConfig:
        """A copy of the `RunConfig` (r1.15)."""
        return copy.copy(self._config)

    @property
    def params(self) -> Any:
        """A copy of the parameters (r1.15)."""
        return copy.deepcopy(self._params)

    @property
    def model_fn(self) -> Fn:
        """The model function, bound to the parameters (r1.15)."""

        def model_fn(features: Nest, labels: Nest, mode: str, config: RunConfig) -> Any:
            return self._call_model_fn(features, labels, mode, config)

        return model_fn

    def get_variable_value(self, name: str) -> Any:
        """The value of a variable in the newest checkpoint, an array (r1.15)."""
        return tf.train.load_variable(self._require_checkpoint(), name)

    def get_variable_names(self) -> list[str]:
        """The names of all variables of the newest checkpoint (r1.15)."""
        return [name for name, _ in tf.train.list_variables(self._require_checkpoint())]

    def latest_checkpoint(self) -> str | None:
        """Path of the newest checkpoint, or None (r1.15)."""
        return tf.train.latest_checkpoint(self._model_dir)

    def _require_checkpoint(self) -> str:
        path = self.latest_checkpoint()
        if path is None:
            raise ArgumentError(
                "no checkpoint in %s" % self._model_dir,
                "Could not find trained model in model_dir",
                "estimator.train(input_fn, steps=...) first",
            )
        return path

    def eval_dir(self, name: str | None = None) -> str:
        """The folder of the summaries of an evaluation (r1.15)."""
        return os.path.join(self._model_dir, "eval_%s" % name if name else "eval")

    def train(
        self,
        input_fn: Fn,
        hooks: Sequence[SessionRunHook] | None = None,
        steps: int | None = None,
        max_steps: int | None = None,
        saving_listeners: Sequence[SaverListener] | None = None,
    ) -> Estimator:
        """Trains the model, from its newest checkpoint if it has one (r1.15).

        Args:
          input_fn: returns a dataset, or features and labels.
          hooks: a list of ``tf.train.SessionRunHook``.
          steps: number of further steps; None until the input ends.
          max_steps: global step of the last step; nothing is done if a checkpoint has it.
          saving_listeners: a list of ``tf.train.CheckpointSaverListener``.

        Returns:
          The Estimator.

        Raises:
          ArgumentError: (a ValueError) both `steps` and `max_steps`, or one below 1.
        """
        sessions.check_steps(steps=steps, max_steps=max_steps)
        if max_steps is not None and max_steps <= checkpoints.trained_steps(self._model_dir):
            _v1.logging.info("Skipping training since max_steps has already saved.")
            return self
        all_hooks = list(hooks or []) + self._convert_train_steps_to_hooks(steps, max_steps)
        with tf.Graph().as_default() as graph:
            step, features, labels, input_hooks = self._begin(graph, input_fn, specs.ModeKeys.TRAIN)
            spec = self._spec(features, labels, specs.ModeKeys.TRAIN)
            self._maybe_warm_start(None)
            loss = sessions.train(
                self._config, spec, step, input_hooks + all_hooks, list(saving_listeners or [])
            )
        _v1.logging.info("Loss for final step: %s.", loss)
        return self

    def evaluate(
        self,
        input_fn: Fn,
        steps: int | None = None,
        hooks: Sequence[SessionRunHook] | None = None,
        checkpoint_path: str | None = None,
        name: str | None = None,
    ) -> dict[str, Any]:
        """Evaluates a checkpoint (r1.15).

        Args:
          input_fn: returns a dataset, or features and labels.
          steps: number of batches; None until the input ends.
          hooks: a list of ``tf.train.SessionRunHook``.
          checkpoint_path: None for the newest one.
          name: tells this evaluation's folder from those of others; None for one evaluation.

        Returns:
          ``{name: value}`` of the metrics, the mean loss and ``"global_step"``.
        """
        sessions.check_steps(steps=steps)
        path = checkpoint_path or self.latest_checkpoint()
        all_hooks = list(hooks or []) + self._convert_eval_steps_to_hooks(steps)
        with tf.Graph().as_default() as graph:
            step, features, labels, input_hooks = self._begin(graph, input_fn, specs.ModeKeys.EVAL)
            spec = self._spec(features, labels, specs.ModeKeys.EVAL)
            self._maybe_warm_start(path)
            return sessions.evaluate(
                self._config, spec, step, input_hooks + all_hooks, path, self.eval_dir(name)
            )

    def predict(
        self,
        input_fn: Fn,
        predict_keys: Any = None,
        hooks: Sequence[SessionRunHook] | None = None,
        checkpoint_path: str | None = None,
        yield_single_examples: bool = True,
    ) -> Iterator[Any]:
        """Yields the predictions for each example (r1.15).

        Args:
          input_fn: returns a dataset, or features.
          predict_keys: names of the predictions to yield; None for all.
          hooks: a list of ``tf.train.SessionRunHook``.
          checkpoint_path: None for the newest one.
          yield_single_examples: False yields batches.
        """
        path = checkpoint_path or self.latest_checkpoint()
        with tf.Graph().as_default() as graph:
            _, features, _, input_hooks = self._begin(graph, input_fn, specs.ModeKeys.PREDICT)
            spec = self._spec(features, None, specs.ModeKeys.PREDICT)
            self._maybe_warm_start(path)
            predictions = sessions.select_predictions(spec.predictions, predict_keys)
            batches = sessions.predict(
                self._config, spec, predictions, input_hooks + list(hooks or []), path
            )
        for batch in batches:
            yield from sessions.examples(batch) if yield_single_examples else (batch,)

    def export_saved_model(
        self,
        export_dir_base: str,
        serving_input_receiver_fn: Callable[[], Any],
        assets_extra: dict[str, str] | None = None,
        as_text: bool = False,
        checkpoint_path: str | None = None,
        experimental_mode: str = specs.ModeKeys.PREDICT,
    ) -> bytes:
        """Writes a SavedModel into a new folder named after the time (r1.15).

        Args:
          export_dir_base: the folder that gets the new folder.
          serving_input_receiver_fn: returns a ``ServingInputReceiver``.
          assets_extra: ``{path below assets.extra: file to copy}``.
          as_text: whether to write it as text.
          checkpoint_path: None for the newest one.
          experimental_mode: the mode that the model function is called in.

        Returns:
          The path of the new folder, as bytes.
        """
        path = checkpoint_path or self._require_checkpoint()
        receivers = {experimental_mode: serving_input_receiver_fn}
        return saved_models.export(self, export_dir_base, receivers, assets_extra, as_text, path)

    def export_savedmodel(
        self,
        export_dir_base: str,
        serving_input_receiver_fn: Callable[[], Any],
        assets_extra: dict[str, str] | None = None,
        as_text: bool = False,
        checkpoint_path: str | None = None,
        strip_default_attrs: bool = False,
    ) -> bytes:
        """The older name of `export_saved_model` (r1.15)."""
        return self.export_saved_model(
            export_dir_base, serving_input_receiver_fn, assets_extra, as_text, checkpoint_path
        )

    # TPUEstimator, and Estimator with a TPUStrategy, override these.

    def _convert_train_steps_to_hooks(
        self, steps: int | None, max_steps: int | None
    ) -> list[SessionRunHook]:
        if steps is None and max_steps is None:
            return []
        return [_v1.train.StopAtStepHook(steps, max_steps)]

    def _convert_eval_steps_to_hooks(self, steps: int | None) -> list[SessionRunHook]:
        return [] if steps is None else [estimators.StopAfterNEvalsHook(num_evals=steps)]

    def _create_global_step(self, graph: Graph) -> Variable:
        return _v1.train.create_global_step(graph)

    def _call_input_fn(self, input_fn: Fn, mode: str) -> Any:
        with tf.device("/device:CPU:0"):
            return user_functions.call(input_fn, mode=mode, params=self.params, config=self.config)

    def _call_model_fn(self, features: Nest, labels: Nest, mode: str, config: RunConfig) -> Any:
        accepted = user_functions.argument_names(self._model_fn)
        if labels is not None and "labels" not in accepted:
            raise ArgumentError(
                "model_fn%s and an input function with labels" % (accepted,),
                "model_fn does not take labels, but input_fn returns labels",
                "def model_fn(features, labels, mode)",
            )
        return user_functions.call(
            self._model_fn, features, labels=labels, mode=mode, params=self.params, config=config
        )

    def _begin(
        self, graph: Graph, input_fn: Fn, mode: str
    ) -> tuple[Variable, Nest, Nest, list[SessionRunHook]]:
        """Starts a new graph: returns its global step, features, labels and input's hooks."""
        _v1.set_random_seed(self._config.tf_random_seed)
        step = self._create_global_step(graph)
        estimators.global_step_read(graph)
        inputs = self._call_input_fn(input_fn, mode)
        hooks: list[SessionRunHook] = []
        if isinstance(inputs, functions.DatasetV2):
            iterator = _v1.data.make_initializable_iterator(inputs)
            hooks.append(infeed.InitializerHook(iterator.initializer))
            inputs = iterator.get_next()
        if isinstance(inputs, (tuple, list)) and not hasattr(inputs, "_fields"):
            return step, inputs[0], inputs[1] if len(inputs) > 1 else None, hooks
        return step, inputs, None, hooks

    def _spec(self, features: Nest, labels: Nest, mode: str) -> specs.EstimatorSpec:
        spec = self._call_model_fn(features, labels, mode, self.config)
        if not isinstance(spec, specs.EstimatorSpec):
            raise ArgumentError(
                "model_fn returned %r" % (spec,),
                "model_fn should return an EstimatorSpec",
                "return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)",
            )
        return spec.checked()

    def _maybe_warm_start(self, checkpoint_path: str | None) -> None:
        """Initializes variables as the settings say, unless a checkpoint will be restored.

        Context: a graph that has all its variables.
        """
        settings = self._warm_start_settings
        if settings is not None and not checkpoint_path:
            _v1.logging.info("Warm-starting with WarmStartSettings: %s", settings)
            _v1.train.warm_start(*settings)


def _warm_start_settings(warm_start_from: Any) -> WarmStartSettings | None:
    """Returns the settings that ``warm_start_from`` means.

    Args:
      warm_start_from: None, settings, a checkpoint, or the folder of a checkpoint or
        SavedModel.

    Raises:
      ArgumentTypeError: (a TypeError) it is something else.
    """
    if warm_start_from is None or isinstance(warm_start_from, WarmStartSettings):
        return warm_start_from
    if not isinstance(warm_start_from, (str, os.PathLike)):
        raise ArgumentTypeError(
            "warm_start_from=%r" % (warm_start_from,),
            "warm_start_from must be a string or a WarmStartSettings",
            "warm_start_from='path/of/model.ckpt-1000'",
        )
    path = os.fspath(warm_start_from)
    saved_model = os.path.join(path, "variables", "variables")
    return WarmStartSettings(saved_model if tf.io.gfile.exists(saved_model + ".index") else path)
