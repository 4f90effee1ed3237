"""What a TPUEstimator cannot do, refused or told before it starts.

Reference: https://github.com/tensorflow/docs/blob/r1.15/site/en/api_docs/python/tf/estimator/tpu/TPUEstimator.md
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import tensorflow as tf

from tpudist.errors import ArgumentError, ArgumentTypeError
from tpudist.tfcompat import versions

if TYPE_CHECKING:
    from typing import Any


def check_arguments(export_to_cpu: bool, embedding_config_spec: Any) -> None:
    """Refuses arguments of ``TPUEstimator`` that would have no effect.

    Raises:
      ArgumentError: (a ValueError) see above.
    """
    if embedding_config_spec is not None:
        raise ArgumentError(
            "embedding_config_spec=%r" % (embedding_config_spec,),
            "the tables would lie in the embedding hardware of a TPU, which TensorFlow's own "
            "TPUEstimator drives; nothing here stands in for it",
            "tf.nn.embedding_lookup in the model function, and no embedding_config_spec",
        )
    if not export_to_cpu:
        raise ArgumentError(
            "export_to_cpu=False",
            "the graph for serving without a TPU is the only one that is exported",
            "export_to_cpu=True",
        )


def check_config(tpu_config: Any) -> None:
    """Refuses what of a ``TPUConfig`` would have no effect.

    Raises:
      ArgumentError: (a ValueError) see above.
    """
    loop = tpu_config.iterations_per_loop
    if isinstance(loop, str):
        raise ArgumentError(
            "iterations_per_loop=%r" % loop,
            "a time is turned into steps by measuring them on the TPU, and the number of steps "
            "of a loop then differs from run to run",
            "iterations_per_loop=100",
        )
    every = host_call_every(tpu_config)
    if isinstance(every, bool) or not isinstance(every, int) or every < 1:
        raise ArgumentError(
            "experimental_host_call_every_n_steps=%r" % (every,),
            "of the steps of a loop the first, and each that many later, calls the host",
            "experimental_host_call_every_n_steps=10",
        )


def check_tpu(virtual: bool) -> None:
    """Refuses a real TPU whose loop of steps TensorFlow feeds from its own iterators only.

    Raises:
      ArgumentError: (a ValueError) see above.
    """
    if not virtual and not versions.HAS_INPUT_LIB:
        raise ArgumentError(
            "a subclass of TPUEstimator on a real TPU with TensorFlow %s" % versions.TF,
            "its TPUStrategy is fed by datasets alone, not by an input function's calls",
            "TPUEstimator itself, which is TensorFlow's own there; or TensorFlow 1.14 or newer",
        )


def check_host_call(on_a_tpu: bool) -> None:
    """Refuses the ``host_call`` of a training on a real TPU.

    Raises:
      ArgumentError: (a ValueError) see above.
    """
    if on_a_tpu:
        raise ArgumentError(
            "a host_call in a training on a real TPU",
            "TensorFlow's own TPUEstimator (until 2.15, not as a base class) drives the outfeed "
            "of a TPU; nothing here stands in for it",
            "TPUEstimator itself on TensorFlow 2.15 or older, or no host_call",
        )


def check_spec(spec: Any, mode: str) -> None:
    """Refuses what a model function returned if the cores would run only a part of it.

    Args:
      spec: what it returned.
      mode: one of ``ModeKeys``.

    Raises:
      ArgumentTypeError: (a TypeError) no specification, or an ``EstimatorSpec`` in an
        evaluation or a prediction.
      ArgumentError: (a ValueError) an ``EstimatorSpec`` with hooks of the chief.
    """
    if not hasattr(spec, "train_op"):
        raise ArgumentTypeError(
            "the model function returned %r" % (spec,),
            "the Estimator runs what its specification says",
            "return tf.contrib.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op)",
        )
    if hasattr(spec, "eval_metrics"):
        return
    if mode != "train":
        raise ArgumentTypeError(
            "the model function returned an EstimatorSpec for mode %r" % mode,
            "its metrics are ops of the cores, which give the host tensors alone",
            "return tf.contrib.tpu.TPUEstimatorSpec(mode, loss=loss, eval_metrics=(metric_fn, "
            "[labels, logits])), or predictions={...}",
        )
    if spec.training_chief_hooks:
        raise ArgumentError(
            "an EstimatorSpec with training_chief_hooks=%r" % (spec.training_chief_hooks,),
            "a TPUEstimator has no other workers than its chief and runs training_hooks alone",
            "TPUEstimatorSpec(mode, loss=loss, train_op=train_op, training_hooks=[...])",
        )
    tf.compat.v1.logging.warning(
        "tpudist: the scaffold of an EstimatorSpec is not used on a TPU; "
        "TPUEstimatorSpec(..., scaffold_fn=...) is"
    )


def host_call_every(tpu_config: Any) -> Any:
    """After how many steps of a loop the host's function is called again (1.15)."""
    return getattr(tpu_config, "experimental_host_call_every_n_steps", 1)


def tell_of_export(export_to_tpu: bool) -> None:
    """Says that an export has no graph for serving on a TPU, if one was asked for."""
    if export_to_tpu:
        tf.compat.v1.logging.warning(
            "tpudist: the exported model has the graph for serving without a TPU, and none for "
            "serving on one; export_to_tpu=False leaves this line out"
        )
