"""Loops of steps, on the virtual TPU and on TensorFlow's, and the outputs that a step sets.

Reference: ``run_steps_on_dataset`` and its ``MultiStepContext``.
"""

from __future__ import annotations

import collections
import contextlib
import weakref
from typing import TYPE_CHECKING, Any, Callable, Iterator, Sequence, TypeVar

import tensorflow as tf

from tpudist.errors import ArgumentError, ArgumentTypeError
from tpudist.input import per_replica_datasets
from tpudist.strategy import replica_values
from tpudist.tfcompat import distributed, functions, graphs, nests
from tpudist.virtual import device_loop
from tpudist.virtual.replicas import program

if TYPE_CHECKING:
    from tpudist.annotations import Fn, Integer
    from tpudist.tfcompat.annotations import Extended, Nest, Strategy, Tensor

#: What collects the outputs of a step.
Outputs = TypeVar("Outputs", bound="StepOutputs")


def require_iterator(iterator: object) -> None:
    """Refuses an iterator that cannot give steps their input."""
    if not callable(getattr(iterator, "get_next", None)):
        raise ArgumentTypeError(
            "iterator=%r" % (iterator,),
            "each step takes its input from iterator.get_next()",
            "dataset.make_one_shot_iterator(), or iter(dataset) in eager mode",
        )


def run(
    strategy: Strategy,
    fn: Fn,
    iterator: object,
    iterations: Integer,
    initial_values: object,
    outputs: Outputs,
    traced: Callable[..., Any] = device_loop.traced,
) -> Outputs:
    """The loop of the virtual TPU; see :func:`tpudist.adapter.run_steps`.

    In eager mode ``traced(step)`` makes the function that runs `step` so many times.
    """
    outputs.begin(strategy)
    if tf.executing_eagerly() and initial_values is None:
        loop = _eager_loop(strategy, fn, iterator, type(outputs), traced)
        outputs.finish(device_loop.run_traced(loop.function, iterations), None)
        outputs.others.update(loop.outputs.others)
        return outputs
    start = (
        None if initial_values is None else (lambda results: start_values(initial_values, results))
    )
    with _built(strategy.extended):
        results, run_op = device_loop.run(lambda: _step(outputs, fn, iterator), iterations, start)
    outputs.finish(results, run_op)
    return outputs


@contextlib.contextmanager
def _built(extended: Extended) -> Iterator[Any]:
    """Context manager: marks for `extended` what only a loop of steps calls."""
    before, extended.builds_steps = extended.builds_steps, not tf.executing_eagerly()
    try:
        yield
    finally:
        extended.builds_steps = before


def _step(outputs: StepOutputs, fn: Fn, iterator: Any) -> dict[str, Any]:
    """Builds one step, which waits for its input; returns the outputs that it set."""
    inputs = iterator.get_next()
    with functions.unconverted(), tf.control_dependencies(_tensors_of(inputs)):
        fn(outputs, *(inputs if isinstance(inputs, tuple) else (inputs,)))
    return outputs.tensors


def _tensors_of(inputs: object) -> list[Any]:
    parts: list[Any] = []
    for leaf in nests.flatten(inputs):
        columns = zip(*map(distributed.flatten, distributed.components(leaf)))
        for column in columns:
            whole = graphs.divided(column)  # the tensor that was split into the parts
            parts += column if whole is None else [whole]
    return [tensor for tensor in parts if nests.is_tensor(tensor)]


#: The loop's function, and the `StepOutputs` of its trace.
_EagerLoop = collections.namedtuple("_EagerLoop", "function outputs")

#: {function: {owner of a bound method: {strategy: {iterator: _EagerLoop}}}}
_loops: Any = weakref.WeakKeyDictionary()


def _eager_loop(
    strategy: Strategy, fn: Fn, iterator: object, outputs_class: object, traced: Callable[..., Any]
) -> _EagerLoop:
    """The loop around `fn`: one for each function, strategy and iterator."""
    keys = [getattr(fn, "__func__", fn), getattr(fn, "__self__", fn), strategy, iterator]
    if not _is_data(iterator):
        return _traced_loop(strategy, fn, iterator, outputs_class, traced)
    try:
        loops = _loops
        for key in keys[:-1]:
            loops = loops.setdefault(key, weakref.WeakKeyDictionary())
        if iterator not in loops:
            loops[iterator] = _traced_loop(strategy, fn, iterator, outputs_class, traced)
        return loops[iterator]
    except TypeError:  # neither hashable nor weakly referable
        return _traced_loop(strategy, fn, iterator, outputs_class, traced)


def _traced_loop(
    strategy: Strategy, fn: Fn, iterator: Any, outputs_class: Any, traced: Callable[..., Any]
) -> _EagerLoop:
    """A new loop, which holds its keys in `_loops` only weakly."""
    targets: list[Any] = [
        weakref.ref(strategy),
        weakref.ref(iterator),
        weakref.WeakMethod(fn) if hasattr(fn, "__func__") else weakref.ref(fn),
    ]
    outputs = outputs_class()

    def step() -> Nest:
        own_strategy, own_iterator, own_fn = [target() for target in targets]
        outputs.begin(own_strategy)
        results = _step(outputs, own_fn, own_iterator)
        outputs.begin(None)
        return results

    return _EagerLoop(traced(step), outputs)


def _is_data(iterator: object) -> bool:
    return isinstance(iterator, per_replica_datasets.PerReplicaIterator) or (
        type(iterator).__module__.startswith("tensorflow")
    )


def run_natively(
    strategy: Strategy,
    fn: Fn,
    iterator: object,
    iterations: Integer,
    initial_values: object,
    outputs: Outputs,
) -> Outputs:
    """The loop of TensorFlow's TPU, which with a ``steps_per_run`` of 1 runs one step only.

    One step needs no loop, and its outputs no values before the first.
    """

    def step(context: object, inputs: object) -> Nest:
        outputs.begin(strategy, context)
        done = fn(outputs, *(inputs if isinstance(inputs, tuple) else (inputs,)))
        ops = [
            op
            for op in nests.flatten(replica_values.own_values(strategy, done))
            if isinstance(op, (tf.Operation, tf.Tensor))
        ]
        return tf.group(*ops)

    extended = strategy.extended
    once = isinstance(iterations, int) and iterations == 1
    per_run, extended.steps_per_run = extended.steps_per_run, 1 if once else None
    if initial_values is None and not once:
        initial_values = outputs.first
    try:
        done = extended.experimental_run_steps_on_iterator(
            step, iterator, iterations, initial_values
        )
    finally:
        extended.steps_per_run = per_run
    outputs.others.update(done.non_tensor_outputs)
    outputs.finish(
        {
            name: replica_values.own_values(strategy, value)
            if distributed.is_distributed(value)
            else value
            for name, value in done.last_step_outputs.items()
        },
        done.run_op,
    )
    return outputs


def start_values(values: object, outputs: dict[str, Any]) -> list[Any]:
    """Flat start values for a loop with these outputs; zeros where there is no value.

    They are by name, or flat in the order of sorted names; one may stand for all leaves (replicas)
    of an output.
    """
    names = sorted(outputs)
    if not isinstance(values, dict):
        values = _by_name(nests.flatten(values), names, outputs)
    unknown = sorted(set(values) - set(names))
    if unknown:
        raise ArgumentError(
            "initial_loop_values for %s" % ", ".join(map(repr, unknown)),
            "the step sets no output of that name, only %s" % names,
            "a dictionary of these names",
        )
    return [tensor for name in names for tensor in _start_of(name, values.get(name), outputs[name])]


def _by_name(flat: Any, names: Sequence[str], outputs: dict[str, Any]) -> dict[str, Any]:
    leaves = {name: nests.flatten(outputs[name]) for name in names}
    if len(flat) == len(names):
        return dict(zip(names, flat))
    if len(flat) != sum(map(len, leaves.values())):
        raise ArgumentError(
            "%d initial_loop_values" % len(flat),
            "the step sets %d output(s): %s" % (len(names), names),
            "one value per output, or a dictionary by name",
        )
    flat = iter(flat)
    return {name: [next(flat) for _ in leaves[name]] for name in names}


def _start_of(name: str, value: object, output: object) -> list[Any]:
    leaves = nests.flatten(output)
    if value is None:
        return [device_loop.zeros(leaf) for leaf in leaves]
    flat = nests.flatten(value)
    flat = flat * len(leaves) if len(flat) == 1 else flat
    if len(flat) != len(leaves):
        raise ArgumentError(
            "initial_loop_values[%r] of %d values" % (name, len(flat)),
            "the output has %d" % len(leaves),
            "one value, or one for each",
        )
    return [_converted(name, *pair) for pair in zip(flat, leaves)]


def _converted(name: str, value: Any, leaf: Any) -> Tensor | None:
    try:
        made = tf.convert_to_tensor(value, dtype=leaf.dtype)
    except (TypeError, ValueError) as error:
        raise ArgumentError(
            "initial_loop_values[%r]=%r" % (name, value),
            "the output is of dtype %s" % leaf.dtype.name,
            "a value of that dtype",
        ) from error
    if not leaf.shape.is_compatible_with(made.shape):
        raise ArgumentError(
            "initial_loop_values[%r] of shape %s" % (name, made.shape),
            "the output has shape %s" % leaf.shape,
            "a value of that shape",
        )
    return made


class StepOutputs:
    """The outputs that a step's function sets, and the loop's results afterwards.

    TensorFlow's own loop on a real TPU has to know the tensors before the `first` step, by name.
    `tensors` are those of the last step by name, `others` whatever else the function set; `run_op`
    runs the loop, None before and in eager mode.
    """

    def __init__(self, first: dict[str, Any] | None = None) -> None:
        self.first = first
        self._strategy: Strategy | None = None
        self._native = None
        self.tensors: dict[str, Any] = {}
        self.others: dict[str, Any] = {}
        self._firsts: set[str] = set()
        self._lists: set[str] = set()
        self.run_op: tf.Operation | None = None

    @property
    def on_a_tpu(self) -> bool:
        """Whether the step is being built as a part of a real TPU's program."""
        return self._native is not None

    def begin(self, strategy: Strategy | None, native: Any = None) -> None:
        """Starts to collect a step's outputs; `native` is TensorFlow's context of a TPU's loop."""
        self._strategy, self._native = strategy, native

    def finish(self, tensors: dict[str, Any], run_op: object) -> None:
        """Takes the loop's results; from now on nothing can be set."""
        of_all = getattr(getattr(self._strategy, "extended", None), "of_all_workers", list)
        self.begin(None)
        self.tensors = {
            name: value[0] if name in self._firsts else value for name, value in tensors.items()
        }
        for name in sorted(self._lists & set(tensors)):  # in this order on all workers
            self.tensors[name] = list(of_all(self.tensors[name]))
        self.run_op = run_op

    def set_tensor(self, name: str, output: object, aggregation: object) -> None:
        """Makes `output` of the last step a result of the loop.

        With the aggregation NONE it is a list with each replica's value.

        Context: replica, or cross-replica with a value per replica, inside the step.
        """
        self._require_step(name)
        reduction = replica_values.reduction(aggregation, none_allowed=True)
        if self._native is not None:
            self._firsts |= {name} if reduction == replica_values.FIRST else set()
            _set_native(self._native, name, output, reduction)
            return
        if tf.distribute.get_replica_context() is not None:
            output = nests.map_structure(_as_tensor, output)
        program.deliver(output, lambda value: self._keep(name, value, reduction))

    def set_other(self, name: str, output: object) -> None:
        """As :meth:`set_tensor`, for something that is not a tensor."""
        self._require_step(name)
        if tf.distribute.get_replica_context() is None:
            self.others[name] = output
            return
        program.deliver(
            output,
            lambda value: self.others.__setitem__(
                name, replica_values.own_values(self._strategy, value)
            ),
        )

    def _require_step(self, name: str) -> None:
        if self._strategy is None:
            raise ArgumentError(
                "an output named %r was set outside of a step" % (name,),
                "it is given back by the loop that runs the step",
                "set it in the function that the loop runs, or in a replica function called there",
            )

    def _keep(self, name: str, value: object, reduction: object) -> None:
        strategy: Any = self._strategy
        if reduction is None:
            is_list = replica_values.is_list_of_replicas(strategy, value)
            self.tensors[name] = value if is_list else program.spread(strategy, value)
            self._lists.add(name)
        else:
            self.tensors[name] = nests.map_structure(
                lambda leaf: replica_values.reduce_leaf(strategy, reduction, leaf), value
            )


def _as_tensor(leaf: Any) -> Tensor:
    return leaf if distributed.is_tensor_like(leaf) else tf.convert_to_tensor(leaf)


def _set_native(context: Any, name: str, output: object, reduction: object) -> None:
    """Sets an output of TensorFlow's own context, even without a reduction."""

    @functions.library
    def outside(unused_strategy: object, value: object) -> None:
        context.set_last_step_output(name, value)

    if reduction not in (None, replica_values.FIRST):
        context.set_last_step_output(name, output, reduction)
    elif tf.distribute.get_replica_context() is None:
        outside(None, output)
    else:
        tf.distribute.get_replica_context().merge_call(outside, (output,))
