"""Refuses what a TPUEstimator cannot do, and warns of what it leaves out.

Reference: https://github.com/tensorflow/docs/blob/r1.15/site/en/api_docs/python/tf/estimator/tpu/TPUEstimator.md
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Iterable, Iterator

import tensorflow as tf

from tpudist.errors import ArgumentError, ArgumentTypeError
from tpudist.estimator import host_calls
from tpudist.tfcompat import clusters, nests, versions
from tpudist.virtual import explanations

if TYPE_CHECKING:
    from tpudist.annotations import TPUConfig
    from tpudist.tfcompat.annotations import Nest, Operation

_SUMMARY = re.compile(r"(Write)?(Scalar|Histogram|Image|Audio|Tensor|)Summary(V2)?$")

#: {"file:line" of a summary that was warned of}; a model function is called for each training.
_warned: set[str] = set()


def check_arguments(export_to_cpu: bool, embedding_config_spec: object) -> None:
    """Refuses arguments of ``TPUEstimator`` that would have no effect."""
    if embedding_config_spec is not None:
        raise ArgumentError(
            "embedding_config_spec=%r" % (embedding_config_spec,),
            "its tables would lie in the embedding hardware of a TPU, which only TensorFlow's "
            "own TPUEstimator drives",
            "tf.nn.embedding_lookup in the model function, and no embedding_config_spec",
        )
    if not export_to_cpu:
        raise ArgumentError(
            "export_to_cpu=False",
            "the graph for serving without a TPU is the only one that is exported",
            "export_to_cpu=True",
        )


def check_config(tpu_config: TPUConfig) -> None:
    """Refuses options of a ``TPUConfig`` that would have no effect."""
    iterations = tpu_config.iterations_per_loop
    if isinstance(iterations, str):
        raise ArgumentError(
            "iterations_per_loop=%r" % iterations,
            "a time is turned into steps by measuring them on the TPU, and the number of steps "
            "of a loop then differs from run to run",
            "iterations_per_loop=100",
        )
    interval = host_calls.interval(tpu_config)
    if isinstance(interval, bool) or not isinstance(interval, int) or interval < 1:
        raise ArgumentError(
            "experimental_host_call_every_n_steps=%r" % (interval,),
            "it is a number of steps: in each loop the host is called for the first step, and "
            "again after so many",
            "experimental_host_call_every_n_steps=10",
        )


def check_real_tpu(is_virtual: bool) -> None:
    """Refuses a real TPU where TensorFlow's strategy cannot be fed by input functions."""
    if not is_virtual and not versions.HAS_INPUT_LIB:
        raise ArgumentError(
            "a subclass of TPUEstimator on a real TPU with TensorFlow %s" % versions.TF,
            "its TPUStrategy takes datasets alone, and not what several calls of an input "
            "function return",
            "TPUEstimator itself, which is TensorFlow's own there; or TensorFlow 1.14 or newer",
        )


def check_cluster(system: Any) -> None:
    """Refuses a cluster whose workers TensorFlow's Estimator cannot train on."""
    if system is None or not system.is_cluster:
        return
    if not clusters.has_sessions:
        raise ArgumentError(
            "TPUEstimator on %r" % system.name,
            "its Sessions are not those of this worker's server",
            "tpudist launch --hosts a,b -- script.py, or tpudist run --tpu %s" % system.name,
        )
    if system.kind or versions.HAS_ESTIMATOR:
        raise ArgumentError(
            "TPUEstimator on %r with TensorFlow %s" % (system.name, versions.TF),
            "its steps are in Sessions, in which devices of several workers do not meet"
            if system.kind
            else "that TensorFlow's Estimator reads TF_CONFIG as one of a training without TPUs",
            "TensorFlow 2.16 or newer and cluster:virtual:%d; or virtual:%d on one machine"
            % (system.cores_per_host, system.cores),
        )


def check_host_call(on_real_tpu: bool) -> None:
    """Refuses the ``host_call`` of a training on a real TPU."""
    if on_real_tpu:
        raise ArgumentError(
            "a host_call in a training on a real TPU",
            "only TensorFlow's own TPUEstimator (until 2.15, not as a base class) drives the "
            "outfeed of a TPU",
            "TPUEstimator itself on TensorFlow 2.15 or older, or no host_call",
        )


def check_spec(spec: Any, mode: str) -> None:
    """Refuses a specification that a TPUEstimator could run only in part."""
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
            "its metrics are ops of the replicas, but metrics run on the host, which gets only "
            "tensors from the replicas",
            "return tf.contrib.tpu.TPUEstimatorSpec(mode, loss=loss, eval_metrics=(metric_fn, "
            "[labels, logits])), or predictions={...}",
        )
    if spec.training_chief_hooks:
        raise ArgumentError(
            "an EstimatorSpec with training_chief_hooks=%r" % (spec.training_chief_hooks,),
            "a TPUEstimator has no workers beside its chief, and runs training_hooks alone",
            "TPUEstimatorSpec(mode, loss=loss, train_op=train_op, training_hooks=[...])",
        )
    tf.compat.v1.logging.warning(
        "tpudist: the scaffold of an EstimatorSpec is not used on a TPU. Instead: "
        "TPUEstimatorSpec(..., scaffold_fn=...)"
    )


def check_hooks(spec: Any, name: str) -> None:
    """Refuses TensorFlow's hooks that read tensors of a step, which are inside the loop of steps.

    Context: a graph, after the loop was built in it.
    """
    outside = tf.compat.v1.get_default_graph()
    step = nests.flatten(spec.predictions if spec.loss is None else spec.loss)[0].graph
    for hook in getattr(spec, name) or ():
        for value in _read_by(hook):
            if isinstance(value, str):
                named = [_named(value, graph) for graph in (outside, step)]
                value = named[1] if named[0] is None else named[0]
            if value is not None and not (value.graph is outside and outside.is_fetchable(value)):
                raise ArgumentError(
                    "%s=[...] with %s, which reads %r" % (name, type(hook).__name__, value.name),
                    "it is a tensor of the steps that run in a loop on the cores, and hooks run "
                    "between two loops",
                    "TPUEstimatorSpec(..., host_call=(host_fn, [tensor])), without that hook; the "
                    "loss is logged as it is",
                )


def _read_by(hook: object) -> Iterator[Any]:
    """Yields the tensors, or their names, that a hook of TensorFlow's reads."""
    named = getattr(hook, "_tensors", None)
    if isinstance(named, dict):
        yield from (value for value in named.values() if isinstance(value, (str, tf.Tensor)))
    if type(hook).__module__.startswith("tensorflow"):
        yield from (value for value in vars(hook).values() if isinstance(value, tf.Tensor))


def _named(name: str, graph: Any) -> Nest:
    """Finds a tensor by its name, or by its op's; None if `graph` has none."""
    try:
        return graph.get_tensor_by_name(name if ":" in name else name + ":0")
    except (KeyError, ValueError):
        return None


def warn_of_export(export_to_tpu: bool) -> None:
    """Warns that an export has no graph for serving on a TPU, if one was asked for."""
    if export_to_tpu:
        tf.compat.v1.logging.warning(
            "tpudist: the exported model has the graph for serving without a TPU, and none for "
            "serving on one. export_to_tpu=False silences this warning"
        )


def warn_of_summaries(ops: Iterable[Operation]) -> None:
    """Warns once of each line of a model function that makes a summary: it is not written."""
    for op in ops:
        summary = _SUMMARY.match(op.type)
        if not summary:
            continue
        line = explanations.place(op)
        if line not in _warned:
            _warned.add(line)
            tf.compat.v1.logging.warning(
                "tpudist: %s: the summary %r is not written: a TPU has no summaries outside of "
                "host_call. Instead: TPUEstimatorSpec(..., host_call=(host_fn, "
                "[tf.reshape(value, [1])])), where host_fn(value) writes it with "
                "tf.contrib.summary.%s",
                line,
                op.name,
                summary.group(2).lower() or "scalar",
            )
