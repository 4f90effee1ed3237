"""Exports of an Estimator, for the releases that have none (2.16 and newer).

Reference: https://github.com/tensorflow/docs/blob/r1.15/site/en/api_docs/python/tf/estimator/export.md
"""

from __future__ import annotations

import os
import time
import typing
from typing import TYPE_CHECKING

import tensorflow as tf

from tpudist.errors import ArgumentError

if TYPE_CHECKING:
    from typing import Any, Callable

_v1 = tf.compat.v1
_DEFAULT = tf.saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY


class ServingInputReceiver(typing.NamedTuple):
    """What an exported model takes (r1.15).

    Args:
      features: what the model function gets.
      receiver_tensors: a tensor, or dictionary of tensors, that a server feeds.
      receiver_tensors_alternatives: ``{name: further receiver tensors}``.
    """

    features: Any
    receiver_tensors: Any
    receiver_tensors_alternatives: Any = None


class TensorServingInputReceiver(ServingInputReceiver):
    """The same for a model function whose features are a single tensor (r1.15)."""


class ExportOutput:
    """The base of what an exported model gives (r1.15)."""

    def signature(self, receivers: dict[str, Any]) -> Any:
        """The signature for `receivers`, a dictionary of tensors."""
        raise NotImplementedError


class PredictOutput(ExportOutput):
    """Predictions (r1.15).

    Args:
      outputs: a tensor, or dictionary of tensors.
    """

    def __init__(self, outputs: Any) -> None:
        self.outputs = outputs if isinstance(outputs, dict) else {"output": outputs}

    def signature(self, receivers: dict[str, Any]) -> Any:
        """See the base class."""
        return _v1.saved_model.predict_signature_def(receivers, self.outputs)


class ClassificationOutput(ExportOutput):
    """Scores and classes (r1.15).

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
    """A regression (r1.15).

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
    """A receiver function that feeds the features themselves (r1.15).

    Args:
      features: ``{name: tensor}``, of which dtype and shape are taken.
      default_batch_size: the first dimension; None for any.
    """

    def receiver_fn() -> ServingInputReceiver:
        fed = {
            name: _v1.placeholder(each.dtype, [default_batch_size] + each.shape.as_list()[1:], name)
            for name, each in features.items()
        }
        return ServingInputReceiver(dict(fed), fed)

    return receiver_fn


def build_parsing_serving_input_receiver_fn(
    feature_spec: dict[str, Any], default_batch_size: int | None = None
) -> Callable[[], ServingInputReceiver]:
    """A receiver function that is fed serialized tf.Examples (r1.15).

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
    estimator: Any,
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
      assets_extra: ``{path below assets.extra: file}``.
      as_text: whether to write it as text.
      checkpoint_path: the checkpoint.

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
    for _ in range(10):
        folder = os.path.join(base, str(int(time.time())))
        if not tf.io.gfile.exists(folder):
            return folder
        time.sleep(1)
    raise ArgumentError(
        "the folder %s" % base, "no new folder could be named in it", "another folder"
    )


def _add_graph(
    estimator: Any, builder: Any, mode: str, receiver_fn: Callable[[], Any], path: str
) -> None:
    with tf.Graph().as_default() as graph:
        estimator._create_global_step(graph)
        _v1.set_random_seed(estimator.config.tf_random_seed)
        receiver = receiver_fn()
        spec = estimator._spec(receiver.features, getattr(receiver, "labels", None), mode)
        with _v1.Session(config=estimator.config.session_config) as session:
            saver = spec.scaffold.saver or _v1.train.Saver(sharded=True)
            saver.restore(session, path)
            local = spec.scaffold.local_init_op
            builder.add_meta_graph_and_variables(
                session,
                [tf.saved_model.SERVING],
                signature_def_map=signatures(spec, receiver),
                assets_collection=_v1.get_collection(_v1.GraphKeys.ASSET_FILEPATHS),
                main_op=local if local is not None else _v1.train.Scaffold.default_local_init_op(),
                saver=saver,
                strip_default_attrs=True,
            )


def signatures(spec: Any, receiver: Any) -> dict[str, Any]:
    """``{name: signature}`` of what a specification exports."""
    outputs = spec.export_outputs or {_DEFAULT: PredictOutput(spec.predictions)}
    if len(outputs) == 1:
        outputs = {_DEFAULT: next(iter(outputs.values())), **outputs}
    elif _DEFAULT not in outputs:
        raise ArgumentError(
            "export_outputs %s" % sorted(outputs),
            "Multiple export_outputs were provided, but none of them is specified as the default",
            "one of them named %r" % _DEFAULT,
        )
    taken = receiver.receiver_tensors
    made = {
        name: each.signature(taken if isinstance(taken, dict) else {"input": taken})
        for name, each in outputs.items()
    }
    for name, others in (receiver.receiver_tensors_alternatives or {}).items():
        others = others if isinstance(others, dict) else {"input": others}
        made.update(
            {"%s:%s" % (name, key): each.signature(others) for key, each in outputs.items()}
        )
    return made
