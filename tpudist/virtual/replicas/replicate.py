"""Runs a replica function: ``call_for_each_replica`` of the virtual TPU.

In a ``tf.function``, and in the graph of ``run_steps_on_dataset``, the replica function is traced
once, as on a real TPU (:mod:`program`). In another TF 1 graph, whose Sessions fetch its tensors, on
releases whose replica contexts need a static id, and if a tower asks in Python which one it is
(:mod:`python_ids`), it is traced once per replica (:mod:`per_replica_trace`).
"""

from __future__ import annotations

import contextlib
import logging
import weakref
from typing import TYPE_CHECKING, Any, Iterator

import numpy as np
import tensorflow as tf

from tpudist.tfcompat import distributed, functions, graphs, nests, versions
from tpudist.virtual import explanations, reductions
from tpudist.virtual.replicas import merge, per_replica_trace, program, python_ids
from tpudist.virtual.trace import dependencies

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import Args, Extended, Fn, Kwargs, Nest


#: {extended: {function: {owner of a bound method, or function: wrapper}}}
_wrappers: Any = weakref.WeakKeyDictionary()


#: What a ``tf.function`` would take as a constant of its trace.
_NUMBERS = (bool, int, float, np.ndarray, np.generic)

#: Functions that are called with the arguments of :func:`call_for_each_replica`
#: after the replicas have been traced or executed.
observers: list[Any] = []


def call_for_each_replica(
    extended: Extended, fn: Fn, args: Args, kwargs: Kwargs, op_by_op: bool = False
) -> Nest:
    """Runs `fn` once per replica; see ``StrategyExtended``.

    Context: cross-replica; graph, ``tf.function`` or eager, where the replicas run inside one
    ``tf.function``, as a TPU has no eager mode. In 1.13, whose functions return no distributed
    values, and with `op_by_op` they run op by op, one after the other, as with the mirrored
    strategy; a ``tf.function`` is traced, unless ``tf.config.run_functions_eagerly`` is on.
    """
    if tf.executing_eagerly() and functions.are_inlined():
        op_by_op, fn = True, functions.python_function(fn)
    eager = tf.executing_eagerly() and not op_by_op
    if versions.HAS_FUNCTION and (functions.is_function(fn) or eager):
        return call_in_function(extended, fn, args, kwargs)
    names = functions.variable_names() if observers else None
    with _without_warnings():
        results = _run_in_a_graph(extended, fn, args, kwargs)
    for observe in observers:
        with functions.variable_names_as(names):
            observe(extended, fn, args, kwargs)
    return results


def _run_in_a_graph(extended: Extended, fn: Fn, args: Args, kwargs: Kwargs) -> Nest:
    """Runs `fn` with the engine that fits; explains why, where it is one trace per replica."""
    reason = _reason_for_per_replica_trace(extended, fn, args, kwargs)
    if reason is None:
        return program.run(extended, fn, args, kwargs)
    trial = _Trial()
    try:
        with explanations.per_replica_trace(extended, fn, reason) as explanation:
            return per_replica_trace.run(extended, fn, args, kwargs, explanation)
    except merge.NestedMergeError:
        if not trial.may_be_repeated():
            raise
    graphs.count_variable_names(trial.names)
    with graphs.variables_reused():
        return program.run(extended, fn, args, kwargs)


class _Trial:
    """Replicas that are traced one by one, until they meet in a branch or loop.

    They can in one trace: the function is traced once more, if what is left in the graph does
    nothing.
    """

    def __init__(self) -> None:
        self._graph = None if tf.executing_eagerly() else tf.compat.v1.get_default_graph()
        if self._graph is not None:
            self._start = len(self._graph.get_operations())
            self.names = functions.variable_names()
            self._variables = set(map(id, tf.compat.v1.global_variables()))

    def may_be_repeated(self) -> bool:
        """Whether nothing that is left would run, and no variable would be there twice."""
        if self._graph is None or not versions.TRACES_AS_FIRST:
            return False
        if functions.in_function():
            return not any(map(dependencies.affects, self._graph.get_operations()[self._start :]))
        made = [v for v in tf.compat.v1.global_variables() if id(v) not in self._variables]
        return all(map(graphs.is_found_by_name, made))


def _reason_for_per_replica_trace(
    extended: Extended, fn: Fn, args: Args, kwargs: Kwargs
) -> str | None:
    """The reason to trace the replicas of `fn` one by one; None if one trace is enough."""
    if not functions.in_function():
        return "a graph outside of run_steps_on_dataset: Python and Sessions have its tensors"
    if not versions.TRACES_AS_FIRST:
        return "TensorFlow before 1.14 traces once per replica"
    if not versions.TRACE_ONCE and not extended.builds_steps:
        return "TensorFlow before 2.4 traces once per replica outside of run_steps_on_dataset"
    if not extended.numbers_in_python:
        return None
    if not versions.TRACE_ONCE and tf.compat.v1.get_default_graph().seed is not None:
        return "the graph has a seed, and TensorFlow numbers a random op by the ops before it"
    return python_ids.reason(fn, (args, kwargs))


def call_in_function(extended: Extended, fn: Fn, args: Args, kwargs: Kwargs) -> Nest:
    """Runs the replicas of `fn`, which may be a ``tf.function``, in one ``tf.function``."""
    args, kwargs = nests.map_structure(
        lambda leaf: _into_function(extended, leaf), (_of_signature(fn, args), kwargs)
    )
    return _wrapper(extended, fn)(*args, **kwargs)


def _wrapper(extended: Extended, fn: Fn) -> Fn:
    """Wraps the replicas of `fn` in a ``tf.function``, the same for the same `fn`."""
    owner, function = getattr(fn, "__self__", None), getattr(fn, "__func__", fn)
    key = function if owner is None else owner
    try:
        of_extended = _wrappers.setdefault(extended, weakref.WeakKeyDictionary())
        wrappers: dict[Any, Fn] = of_extended.setdefault(function, weakref.WeakKeyDictionary())
        if key not in wrappers:
            wrappers[key] = _wrap(extended, fn)
        return wrappers[key]
    except TypeError:  # neither hashable nor weakly referable
        return _wrap(extended, fn)


def _wrap(extended: Extended, fn: Fn) -> Fn:
    target: Any = weakref.WeakMethod(fn) if hasattr(fn, "__func__") else weakref.ref(fn)
    target_extended: Any = weakref.ref(extended)

    def for_each_replica(*args: Any, **kwargs: Any) -> Nest:
        converted = functions.convert(functions.python_function(target()))
        extended = target_extended()
        results = extended.call_for_each_replica(converted, args, kwargs)
        return nests.map_structure(lambda leaf: _out_of_function(extended, leaf), results)

    # A signature is of one replica's arguments, not of per-replica values.
    is_kept = functions.is_function(fn) and functions.signature(fn) is None
    wrapped: Fn = (
        functions.clone(fn, for_each_replica) if is_kept else tf.function(for_each_replica)
    )
    return wrapped


def _of_signature(fn: object, args: Args) -> tuple[Any, ...]:
    """Converts numbers and arrays to tensors as the signature of a ``tf.function`` asks."""
    signature = functions.signature(fn) if functions.is_function(fn) else None
    specs, leaves = nests.flatten(signature), nests.flatten(tuple(args))
    if signature is None or len(specs) != len(leaves):
        return tuple(args)
    tensors = [
        tf.constant(leaf, spec.dtype) if isinstance(leaf, _NUMBERS) else leaf
        for spec, leaf in zip(specs, leaves)
    ]
    return tuple(nests.pack_sequence_as(tuple(args), tensors))


def _into_function(extended: Extended, leaf: object) -> Nest:
    """Converts an argument for a ``tf.function``: per-replica numbers become tensors."""
    if not distributed.is_distributed(leaf) or isinstance(leaf, tf.Variable):
        return leaf
    parts = distributed.components(leaf)
    if not all(isinstance(part, (bool, int, float)) for part in parts):
        return leaf
    return distributed.per_replica(extended, [tf.constant(part) for part in parts])


def _out_of_function(extended: Extended, leaf: object) -> Nest:
    """Converts a result for a ``tf.function``, which returns no op and no variable."""
    if isinstance(distributed.components(leaf)[0], tf.Operation):
        return None
    if not isinstance(leaf, tf.Variable):
        return leaf
    parts, count = distributed.components(leaf), len(extended.worker_devices)
    if any(part is not parts[0] for part in parts):
        return distributed.per_replica(extended, [part.read_value() for part in parts])
    copies = reductions.copies(parts[0].read_value(), count)
    return distributed.per_replica(extended, copies) if count > 1 else copies[0]


#: TensorFlow's loggers: absl's from 2.0 on, its own before.
_LOGGERS = [logging.getLogger(name) for name in ("absl", "tensorflow")]


def _is_other(record: logging.LogRecord) -> bool:
    """Whether a record is no warning of ``tpu.outside_compilation``."""
    said = "Outside compilation attempted outside TPUReplicateContext scope"
    return not str(record.msg).startswith(said)


@contextlib.contextmanager
def _without_warnings() -> Iterator[None]:
    """Context manager: keeps TensorFlow from warning of what host and core, one device, both do."""
    added = [logger for logger in _LOGGERS if _is_other not in logger.filters]
    for logger in added:
        logger.addFilter(_is_other)
    try:
        yield
    finally:
        for logger in added:
            logger.removeFilter(_is_other)
