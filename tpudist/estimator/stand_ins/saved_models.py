"""Stands in for ``tf.estimator.export`` and for the exporters of an ``EvalSpec``.

Both write an Estimator's model as a SavedModel for serving.

Reference: https://github.com/tensorflow/docs/blob/r1.15/site/en/api_docs/python/tf/estimator/export.md
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any, Callable, NamedTuple

import tensorflow as tf

from tpudist.errors import ArgumentError

if TYPE_CHECKING:
    from tpudist.core.annotations import EstimatorLike, Nest
    from tpudist.estimator.stand_ins.specs import EstimatorSpec

_v1 = tf.compat.v1
_DEFAULT = tf.saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY


class ServingInputReceiver(NamedTuple):
    """Describes the input of an exported model (r1.15).

    Args:
      features: the features that the model function is called with.
      receiver_tensors: a tensor, or dictionary of tensors, that a server feeds.
      receiver_tensors_alternatives: ``{name: tensors that a server may feed instead}``.
    """

    features: Any
    receiver_tensors: Any
    receiver_tensors_alternatives: Any = None


class TensorServingInputReceiver(ServingInputReceiver):
    """Describes the input of a model function whose features are a single tensor (r1.15)."""


class ExportOutput:
    """The base class of outputs of an exported model (r1.15)."""

    def signature(self, receivers: dict[str, Any]) -> Any:
        """Returns the signature for `receivers`, a dictionary of tensors."""
        raise NotImplementedError


class PredictOutput(ExportOutput):
    """An output of any tensors (r1.15).

    Args:
      outputs: a tensor, or dictionary of tensors.
    """

    def __init__(self, outputs: Any) -> None:
        self.outputs = outputs if isinstance(outputs, dict) else {"output": outputs}

    def signature(self, receivers: dict[str, Any]) -> Any:
        """See the base class."""
        return _v1.saved_model.predict_signature_def(receivers, self.outputs)


class ClassificationOutput(ExportOutput):
    """An output of scores and classes (r1.15).

    Args:
      scores: a float tensor, or None.
      classes: a string tensor, or None.
    """

    def __init__(self, scores: Any = None, classes: Any = None) -> None:
        self.scores, self.classes = scores, classes

    def signature(self, receivers: dict[str, Any]) -> Any:
        """See the base class."""
        (examples,) = receivers.values()
        return _v1.saved_model.classification_signature_def(examples, self.classes, self.scores)


class RegressionOutput(ExportOutput):
    """An output of a regression (r1.15).

    Args:
      value: a float tensor.
    """

    def __init__(self, value: Any) -> None:
        self.value = value

    def signature(self, receivers: dict[str, Any]) -> Any:
        """See the base class."""
        (examples,) = receivers.values()
        return _v1.saved_model.regression_signature_def(examples, self.value)


def build_raw_serving_input_receiver_fn(
    features: dict[str, Any], default_batch_size: int | None = None
) -> Callable[[], ServingInputReceiver]:
    """Returns a receiver function whose server feeds the features themselves (r1.15).

    Args:
      features: ``{name: tensor}``: examples of dtype and shape.
      default_batch_size: the first dimension; None for any.
    """

    def receiver_fn() -> ServingInputReceiver:
        placeholders = {
            name: _v1.placeholder(
                tensor.dtype, [default_batch_size] + tensor.shape.as_list()[1:], name
            )
            for name, tensor in features.items()
        }
        return ServingInputReceiver(dict(placeholders), placeholders)

    return receiver_fn


def build_parsing_serving_input_receiver_fn(
    feature_spec: dict[str, Any], default_batch_size: int | None = None
) -> Callable[[], ServingInputReceiver]:
    """Returns a receiver function whose server feeds serialized tf.Examples (r1.15).

    Args:
      feature_spec: as for ``tf.io.parse_example``.
      default_batch_size: number of examples; None for any.
    """

    def receiver_fn() -> ServingInputReceiver:
        examples = _v1.placeholder(tf.string, [default_batch_size], "input_example_tensor")
        return ServingInputReceiver(
            _v1.parse_example(examples, feature_spec), {"examples": examples}
        )

    return receiver_fn


def export(
    estimator: EstimatorLike,
    base: str,
    receivers: dict[str, Callable[[], Any]],
    assets_extra: dict[str, str] | None,
    as_text: bool,
    checkpoint_path: str,
) -> bytes:
    """Writes a SavedModel of an Estimator.

    Args:
      estimator: the Estimator.
      base: folder that gets a new folder, named after the time.
      receivers: ``{mode: receiver function}``.
      assets_extra: ``{path below assets.extra: file to copy}``.
      as_text: whether to write it as text.
      checkpoint_path: the checkpoint whose values are exported.

    Returns:
      The path of the new folder, as bytes.
    """
    folder = _new_folder(base)
    temporary = os.path.join(base, "temp-" + os.path.basename(folder))
    builder = _v1.saved_model.Builder(temporary)
    for mode, receiver_fn in receivers.items():
        _add_graph(estimator, builder, mode, receiver_fn, checkpoint_path)
    builder.save(as_text)
    for name, source in (assets_extra or {}).items():
        target = os.path.join(temporary, "assets.extra", name)
        tf.io.gfile.makedirs(os.path.dirname(target))
        tf.io.gfile.copy(source, target)
    tf.io.gfile.rename(temporary, folder)
    return os.fsencode(folder)


def _new_folder(base: str) -> str:
    """Returns the path of a folder in `base` that is named after the time and does not exist."""
    for _ in range(10):
        folder = os.path.join(base, str(int(time.time())))
        if not tf.io.gfile.exists(folder):
            return folder
        time.sleep(1)
    raise ArgumentError(
        "the folder %s" % base,
        "a new folder is named after the time in seconds, and there were folders of each of the "
        "last ten seconds",
        "another folder",
    )


def _add_graph(
    estimator: EstimatorLike,
    builder: Any,
    mode: str,
    receiver_fn: Callable[[], Any],
    checkpoint_path: str,
) -> None:
    """Adds the model's graph of one mode, with a checkpoint's values, to a SavedModel."""
    with tf.Graph().as_default() as graph:
        estimator._create_global_step(graph)
        _v1.set_random_seed(estimator.config.tf_random_seed)
        receiver = receiver_fn()
        spec = estimator._spec(receiver.features, getattr(receiver, "labels", None), mode)
        with _v1.Session(config=estimator.config.session_config) as session:
            saver = spec.scaffold.saver or _v1.train.Saver(sharded=True)
            saver.restore(session, checkpoint_path)
            init_op = spec.scaffold.local_init_op
            if init_op is None:
                init_op = _v1.train.Scaffold.default_local_init_op()
            builder.add_meta_graph_and_variables(
                session,
                [tf.saved_model.SERVING],
                signature_def_map=_signatures(spec, receiver),
                assets_collection=_v1.get_collection(_v1.GraphKeys.ASSET_FILEPATHS),
                main_op=init_op,
                saver=saver,
                strip_default_attrs=True,
            )


def _signatures(spec: EstimatorSpec, receiver: ServingInputReceiver) -> dict[str, Any]:
    """Returns ``{name: signature}`` of what a specification exports."""
    outputs = spec.export_outputs or {_DEFAULT: PredictOutput(spec.predictions)}
    if len(outputs) == 1:
        outputs = {_DEFAULT: next(iter(outputs.values())), **outputs}
    elif _DEFAULT not in outputs:
        raise ArgumentError(
            "export_outputs %s" % sorted(outputs),
            "Multiple export_outputs were provided, but none of them is specified as the default",
            "one of them named %r" % _DEFAULT,
        )
    receivers = {"": receiver.receiver_tensors}
    for name, tensors in (receiver.receiver_tensors_alternatives or {}).items():
        receivers[name + ":"] = tensors
    return {
        prefix + name: output.signature(_by_name(tensors))
        for prefix, tensors in receivers.items()
        for name, output in outputs.items()
    }


def _by_name(tensors: Nest) -> dict[str, Any]:
    return tensors if isinstance(tensors, dict) else {"input": tensors}


class Exporter:
    """The base class of exporters, which export a model while it is trained (r1.15)."""

    @property
    def name(self) -> str:
        """The name of the folder of its exports, below ``export`` (r1.15)."""
        raise NotImplementedError

    def export(
        self,
        estimator: EstimatorLike,
        export_path: str,
        checkpoint_path: str,
        eval_result: dict[str, Any],
        is_the_final_export: bool,
    ) -> bytes | None:
        """Exports a checkpoint after its evaluation, if this exporter wants it (r1.15).

        Returns:
          The path of the export, or None.
        """
        raise NotImplementedError


class _SavedModelExporter(Exporter):
    """Writes SavedModels, and deletes the oldest ones; subclasses say of which checkpoints."""

    def __init__(
        self,
        name: str,
        serving_input_receiver_fn: Callable[[], Any] | None,
        assets_extra: dict[str, str] | None,
        as_text: bool,
        exports_to_keep: int | None,
    ) -> None:
        if exports_to_keep is not None and exports_to_keep <= 0:
            raise ArgumentError(
                "exports_to_keep=%r" % exports_to_keep,
                "it must be positive",
                "exports_to_keep=5, or None for all",
            )
        self._name = name
        self._options = dict(
            serving_input_receiver_fn=serving_input_receiver_fn,
            assets_extra=assets_extra,
            as_text=as_text,
        )
        self._keep = exports_to_keep

    @property
    def name(self) -> str:
        """See the base class."""
        return self._name

    def export(
        self,
        estimator: EstimatorLike,
        export_path: str,
        checkpoint_path: str,
        eval_result: dict[str, Any],
        is_the_final_export: bool,
    ) -> bytes | None:
        """See the base class."""
        if not self._wants(estimator, eval_result, is_the_final_export):
            return None
        path = estimator.export_saved_model(
            export_path, checkpoint_path=checkpoint_path, **self._options
        )
        if self._keep is not None:
            names = filter(_is_export, tf.io.gfile.listdir(export_path))
            for name in sorted(names)[: -self._keep]:
                tf.io.gfile.rmtree(os.path.join(export_path, name))
        return path

    def _wants(
        self, estimator: EstimatorLike, eval_result: dict[str, Any], is_the_final_export: bool
    ) -> bool:
        """Whether to export the checkpoint; arguments as of :meth:`export`."""
        return True


def _is_export(name: str) -> bool:
    """Whether a folder's name is a time in seconds, as those of exports are."""
    return len(name.rstrip("/")) == 10 and name.rstrip("/").isdigit()


class FinalExporter(_SavedModelExporter):
    """Exports once, when the training ends (r1.15).

    Args:
      name: folder of the exports.
      serving_input_receiver_fn: returns a ``ServingInputReceiver``.
      assets_extra: ``{path below assets.extra: file to copy}``.
      as_text: whether to write it as text.
    """

    def __init__(
        self,
        name: str,
        serving_input_receiver_fn: Callable[[], Any],
        assets_extra: dict[str, str] | None = None,
        as_text: bool = False,
    ) -> None:
        super().__init__(name, serving_input_receiver_fn, assets_extra, as_text, None)

    def _wants(
        self, estimator: EstimatorLike, eval_result: dict[str, Any], is_the_final_export: bool
    ) -> bool:
        return is_the_final_export


class LatestExporter(_SavedModelExporter):
    """Exports every checkpoint that is evaluated (r1.15).

    Args:
      name, serving_input_receiver_fn, assets_extra, as_text: as for `FinalExporter`.
      exports_to_keep: how many exports are kept; None for all.
    """

    def __init__(
        self,
        name: str,
        serving_input_receiver_fn: Callable[[], Any],
        assets_extra: dict[str, str] | None = None,
        as_text: bool = False,
        exports_to_keep: int | None = 5,
    ) -> None:
        super().__init__(name, serving_input_receiver_fn, assets_extra, as_text, exports_to_keep)


def _loss_smaller(best_eval_result: dict[str, Any], current_eval_result: dict[str, Any]) -> bool:
    return bool(best_eval_result["loss"] > current_eval_result["loss"])


class BestExporter(_SavedModelExporter):
    """Exports each checkpoint whose evaluation is better than all before it (r1.15).

    Args:
      name, serving_input_receiver_fn, assets_extra, as_text: as for `FinalExporter`.
      event_file_pattern: event files below the model's folder, with earlier results to
        compare with; None for no comparison with earlier trainings.
      compare_fn: ``compare_fn(best_eval_result, current_eval_result)``: whether the
        latter is better; by default the smaller loss.
      exports_to_keep: how many exports are kept; None for all.
    """

    def __init__(
        self,
        name: str = "best_exporter",
        serving_input_receiver_fn: Callable[[], Any] | None = None,
        event_file_pattern: str | None = "eval/*.tfevents.*",
        compare_fn: Callable[..., bool] = _loss_smaller,
        assets_extra: dict[str, str] | None = None,
        as_text: bool = False,
        exports_to_keep: int | None = 5,
    ) -> None:
        super().__init__(name, serving_input_receiver_fn, assets_extra, as_text, exports_to_keep)
        self._events = event_file_pattern
        self._is_better = compare_fn
        self._best: dict[str, Any] | None = None
        self._has_exported = False

    def _wants(
        self, estimator: EstimatorLike, eval_result: dict[str, Any], is_the_final_export: bool
    ) -> bool:
        if self._best is None and self._events:
            self._best = self._best_of_events(os.path.join(estimator.model_dir, self._events))
        if self._has_exported and not self._is_better(
            best_eval_result=self._best, current_eval_result=eval_result
        ):
            return False
        self._best, self._has_exported = eval_result, True
        return True

    def _best_of_events(self, pattern: str) -> dict[str, Any] | None:
        best: dict[str, Any] | None = None
        for path in tf.io.gfile.glob(pattern):
            for event in _v1.train.summary_iterator(path):
                result = {
                    value.tag: value.simple_value
                    for value in event.summary.value
                    if value.HasField("simple_value")
                }
                if result and (best is None or self._is_better(best, result)):
                    best = result
        return best
