"""Batches loops that replicas leave at different times.

The loop goes on while any replica is active. What a round would change for a replica that is not
active stays as it is: numbers, and elements of lists, are selected by the mask of the active
replicas, and to a sum over the replicas it adds zeros.

What is uniform, such as a counter, is the same for all *active* replicas: the loop has it once, and
beside it what each replica had when it left. The lists to which such a loop pushes values, for its
gradient, have rounds in them of replicas that had left (`layouts.PaddedList`). The gradient's loop
takes them from the end: there each replica *becomes* active at its own last round (`Span`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Sequence

import tensorflow as tf

from tpudist.tfcompat import functions, made_ops, placed_graphs
from tpudist.virtual.trace import dependencies
from tpudist.virtual.trace.dependencies import IdentityMap
from tpudist.virtual.vectorize import flow
from tpudist.virtual.vectorize.rules import IDENTITIES
from tpudist.virtual.vectorize.values.batched_values import (
    Batch,
    NotBatchable,
    ReplicaSum,
    Uniform,
    tensors_of,
)
from tpudist.virtual.vectorize.values.layouts import (
    PaddedList,
    StackedList,
    of_any_shape,
    with_layout,
)

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import Operation, Tensor
    from tpudist.virtual.vectorize.called_functions import Function, Loop
    from tpudist.virtual.vectorize.values.batched_values import BatchedValue


REASON = "replicas leave the loop at different times"

#: Ops whose kernels fail for some numbers, as a replica that has left may have them.
_MAY_FAIL = """CheckNumerics Cholesky MatrixInverse MatrixSolve MatrixTriangularSolve""".split()

#: Ops that fail for whole numbers: a division by zero, a negative power.
_MAY_FAIL_FOR_INTEGERS = "Div FloorDiv FloorMod Mod Pow RealDiv TruncateDiv TruncateMod".split()

#: How the types of ops begin that take numbers of rows or of classes, and check them.
_READ_PLACES = tuple(
    "Gather InTopK ResourceGather ReverseSequence Scatter SparseSoftmax TensorScatter "
    "UnsortedSegment".split()
)

_ADDITIONS = ("Add", "AddN", "AddV2")

_PUSH, _POP, _SET = "TensorListPushBack", "TensorListPopBack", "TensorListSetItem"

#: Ops that put their last input into a list.
WRITES = (_PUSH, _SET)


def harmless(
    active: Tensor, op: Operation, inputs: Sequence[BatchedValue], summed: bool
) -> Sequence[BatchedValue]:
    """The inputs of `op`, with zeros for inactive replicas where they would count or fail."""
    divides = op.type in _MAY_FAIL_FOR_INTEGERS and op.inputs[1].dtype.is_integer
    if op.type in _MAY_FAIL or divides and not isinstance(inputs[1], Uniform):
        raise NotBatchable("it may fail for a replica that has left the loop")
    reads_places = op.type.startswith(_READ_PLACES)
    has_sums = any(isinstance(value, ReplicaSum) for value in inputs)
    changed: list[BatchedValue] = []
    for value, tensor in zip(inputs, op.inputs):
        if has_sums and isinstance(value, Uniform):
            number = tf.math.count_nonzero(active, dtype=value.value.dtype)
            value = ReplicaSum(value.value * number)
        elif type(value) is Batch and (summed or reads_places and tensor.dtype.is_integer):
            stacked = value.stacked()
            zeroed = tf.compat.v1.where(active, stacked, tf.zeros_like(stacked))
            value = Batch(value.count, value.shape, stacked=zeroed)
        changed.append(value)
    return changed


class Span(NamedTuple):
    """The rounds in which each replica is active, in a loop that goes back over padded lists.

    Attributes:
      inputs: the batched inputs of the loop, with lists and numbers as such a loop has them.
      counter: which of its variables counts the rounds.
      begin: the first round of each replica, an int32 tensor ``[N]``.
      end: the one behind its last.
    """

    inputs: Sequence[BatchedValue]
    counter: int
    begin: Tensor
    end: Tensor


def span(graph: Any, op: Operation, called: Loop, inputs: Any) -> Span | None:
    """The `Span` of a loop that takes values from padded lists; None if it has none."""
    lists = [i for i, value in enumerate(inputs) if isinstance(value, PaddedList)]
    if not lists:
        return None
    counter, bound = _counter_and_bound(called, inputs)
    lengths = inputs[lists[0]].lengths
    results = [source_of(result).op.type for result in called.body.outputs]
    differ = any(inputs[i].lengths is not lengths or _is_used(op.outputs[i]) for i in lists)
    if differ or any(kind == _POP and i not in lists for i, kind in enumerate(results)):
        raise NotBatchable("lists of different lengths")
    begin = tf.reduce_max(lengths) - lengths
    end = begin + tf.cast(inputs[bound].stacked(), tf.int32)
    changed = [_as_in_a_span(graph, i, value, called, counter) for i, value in enumerate(inputs)]
    return Span(changed, counter, begin, end)


def _is_used(tensor: Tensor) -> bool:
    """Whether an op takes a tensor, other than to pass it on to none."""
    return any(op.type not in IDENTITIES or _is_used(op.outputs[0]) for op in tensor.consumers())


def _counter_and_bound(called: Loop, inputs: Any) -> tuple[int, int]:
    """The variables ``i`` and ``n`` of a loop ``i = 0; while i < n: ...; i += 1``."""
    (test,), body = called.condition.outputs, called.body
    less = source_of(test).op
    places = [_place(called.condition, tensor) for tensor in less.inputs]
    known = [place for place in places if place is not None]
    if less.type == "Less" and len(known) == 2:
        counter, bound = known
        first, is_kept = inputs[counter], source_of(body.outputs[bound]) is body.inputs[bound]
        is_from_0 = isinstance(first, Uniform) and first.constant() == 0
        if _counts(body, counter) and is_from_0 and is_kept:
            return counter, bound
    raise NotBatchable(REASON)


def _counts(body: Function, i: int) -> bool:
    """Whether a round does nothing with variable `i` but add 1 to it."""
    users = [op for op in body.body if any(t is body.inputs[i] for t in op.inputs)]
    added = source_of(body.outputs[i]).op
    ones = [functions.static_value(tensor) for tensor in added.inputs]
    return users == [added] and added.type in _ADDITIONS and 1 in ones


def _place(function: Function, tensor: Tensor) -> int | None:
    """The index of a tensor among the inputs of `function`."""
    source = source_of(tensor)
    return next((i for i, each in enumerate(function.inputs) if each is source), None)


def source_of(tensor: Tensor) -> Tensor:
    """The tensor that an Identity passes on as `tensor`; else `tensor` itself."""
    tensor = dependencies.origin(tensor)
    while tensor.op.type in IDENTITIES:
        tensor = dependencies.origin(tensor.op.inputs[0])
    return tensor


def _as_in_a_span(graph: Any, i: int, value: Any, called: Loop, counter: int) -> BatchedValue:
    """Input `i`: the list that a padded one has; what is alike at first is not in later rounds."""
    if isinstance(value, PaddedList):
        return value.whole
    tensor, result = called.body.inputs[i], called.body.outputs[i]
    is_kept = source_of(result) is tensor or _is_opaque(tensor)
    if not isinstance(value, Uniform) or is_kept or i == counter:
        return value
    shape = _static(value.value.shape)
    return Batch(graph.count, shape, stacked=value.stacked())


def _is_opaque(tensor: Tensor) -> bool:
    return tensor.dtype in (tf.variant, tf.resource)


def _static(shape: Any) -> list[int]:
    if not shape.is_fully_defined():
        raise NotBatchable("a shape is known only when it runs")
    return shape.as_list()


class MaskedLoop:
    """A loop with a mask of the active replicas; a `Span` if it goes back over padded lists."""

    def __init__(self, graph: Any, op: Operation, called: Loop, inputs: Any, span: Any) -> None:
        self._graph, self._op, self._called, self._inputs = graph, op, called, inputs
        self._span = span
        pairs = zip(called.body.inputs, called.body.outputs)
        self._changed = [source_of(result) is not tensor for tensor, result in pairs]
        self._kept: list[int] = []
        self._pushed = [source_of(result).op.type == _PUSH for result in called.body.outputs]

    def begin(self) -> list[Tensor]:
        """Adds the loop's further variables: the mask, the numbers of rounds, and the span."""
        span = list(self._span[2:]) if self._span else []
        active = self._active(self._graph, self._graph.active, self._inputs, span)
        return [active, tf.zeros([self._graph.count], tf.int32), *span]

    def outputs(self, body: Any, layouts: Any, begun: list[Tensor]) -> list[BatchedValue]:
        """The batched outputs of the loop, from a round and what `begin` gave."""
        if body.inner.record.per_replica:
            raise NotBatchable(REASON)
        entering: list[Any] = [
            with_layout(value, layout) for value, layout in zip(self._inputs, layouts)
        ]
        self._kept = [  # what is alike on the active replicas, and not on those that have left
            i
            for i, (layout, tensor) in enumerate(zip(layouts, self._called.body.inputs))
            if self._changed[i] and isinstance(layout, Uniform) and not _is_opaque(tensor)
        ]
        beside = begun + [entering[i].stacked() for i in self._kept]
        start = tensors_of(entering) + beside
        made = {
            "body": self._round(body, layouts, beside),
            "cond": self._condition(start, len(start) - len(beside), entering),
        }
        call = made_ops.create_with_functions(self._op, [], start, body.tensors, ("T", "T"), made)
        self._graph.record.add(body.inner.record)
        return self._results(call, layouts, list(call.outputs)[-len(beside) :])

    def _active(self, graph: Any, before: Tensor | None, values: Any, span: Any) -> Tensor:
        """The mask of replicas that do another round after `values`, a bool tensor ``[N]``."""
        if span:
            counter, (begin, end) = values[self._span.counter].value, span
            return (counter >= begin) & (counter < end)
        inner = graph.nested(IdentityMap())
        inner.active = before
        inner.add_function(self._called.condition, values)
        goes_on: Any
        (goes_on,) = inner.values_of(self._called.condition.outputs)
        if inner.record.per_replica:
            raise NotBatchable(REASON)
        return goes_on.stacked() if before is None else goes_on.stacked() & before

    def _condition(self, start: Any, mask: int, entering: Any) -> Any:
        """The function that says whether there is another round, of all that the loop carries."""
        graph = placed_graphs.PlacedGraph("batched", self._graph.place)
        with graph.building():
            graph.inputs = [functions.placeholder_like(tensor) for tensor in start]
            waiting = graph.inputs[mask]
            if self._span:
                counter = len(tensors_of(entering[: self._span.counter]))
                waiting = graph.inputs[counter] < graph.inputs[mask + 3]
            graph.outputs = [tf.reduce_any(waiting)]
        return flow.finished(graph)

    def _round(self, body: Any, layouts: Any, beside: Any) -> Any:
        """The function of a round, with what it does where replicas are not active."""
        active, trips, *span = body.more
        with body.graph.building():
            kept = [functions.placeholder_like(tensor) for tensor in beside[len(body.more) :]]
            body.graph.inputs = body.graph.inputs + kept
            merged: list[Any] = [self._merged(body, i, layout) for i, layout in enumerate(layouts)]
            pairs = zip(self._kept, kept)
            own = [tf.compat.v1.where(active, merged[i].stacked(), old) for i, old in pairs]
            goes_on = self._active(body.inner, active, merged, span)
            more = [goes_on, trips + tf.cast(active, tf.int32), *span, *own]
        body.outputs = merged
        return body.finish(layouts, more)

    def _merged(self, body: Any, i: int, layout: Any) -> BatchedValue:
        """Variable `i` after a round: what it was, for a replica that is not active."""
        before, after = body.inputs[i], body.outputs[i]
        if not self._changed[i]:
            return before
        if self._called.body.inputs[i].dtype == tf.variant:
            return self._merged_list(body, i, layout)
        if isinstance(layout, Uniform):
            return after
        if isinstance(layout, ReplicaSum) and _is_added_to(self._called.body, i):
            return with_layout(after, layout)
        if type(layout) is not Batch:
            raise NotBatchable(REASON)
        new: Any = with_layout(after, layout)
        chosen = tf.compat.v1.where(body.more[0], new.stacked(), before.stacked())
        return Batch(layout.count, layout.shape, stacked=chosen)

    def _merged_list(self, body: Any, i: int, layout: Any) -> BatchedValue:
        variable = self._called.body.inputs[i]
        op = source_of(self._called.body.outputs[i]).op
        if op.type in (_PUSH, _POP) and source_of(op.inputs[0]) is variable:
            is_new = source_of(self._op.inputs[i]).op.type == "EmptyTensorList"
            if self._span is not None and op.type == _PUSH or self._span is None and not is_new:
                raise NotBatchable(REASON)
            return with_layout(body.outputs[i], layout)
        if not isinstance(layout, StackedList):
            raise NotBatchable(REASON)
        lists = _MaskedList(body, variable, body.inputs[i])
        return layout.with_tensors([lists.changed(self._called.body.outputs[i])])

    def _results(self, call: Operation, layouts: Any, beside: Any) -> list[BatchedValue]:
        """The batched outputs, from those of the While op."""
        values = list(flow.outputs_of(self._op, call, layouts))
        for i, tensor in zip(self._kept, beside[len(beside) - len(self._kept) :]):
            values[i] = Batch(self._graph.count, _static(tensor.shape[1:]), stacked=tensor)
        for i, is_pushed in enumerate(self._pushed):
            if is_pushed:
                values[i] = PaddedList(values[i], beside[1])
        return values


def _is_added_to(body: Function, i: int) -> bool:
    """Whether a round adds to variable `i`, and does nothing else with it."""
    times: IdentityMap[Tensor, float] = IdentityMap()
    times[body.inputs[i]] = 1.0
    for op in body.body:
        own = [times.get(tensor, 0.0) for tensor in dependencies.inputs_of(op)]
        is_sum = op.type in _ADDITIONS + IDENTITIES
        for tensor in op.outputs if any(own) else ():
            times[tensor] = sum(own) if is_sum else float("nan")
    return times.get(body.outputs[i], 0.0) == 1.0


class _MaskedList:
    """A list, `variable` in the trace, whose elements a round changes for active replicas only."""

    def __init__(self, body: Any, variable: Tensor, before: Any) -> None:
        self._inner, self._active = body.inner, body.more[0]
        self._variable, self._before = variable, before

    def changed(self, tensor: Tensor) -> Tensor:
        """The batched list for `tensor` of the trace, which a round made of the variable."""
        source = source_of(tensor)
        if source is self._variable:
            return self._before.value
        op, inputs = source.op, dependencies.inputs_of(source.op)
        if op.type == _SET:
            return self._with_element(op, self.changed(inputs[0]), self._before)
        changed = list(map(self._is_changed, inputs))
        if op.type == "AddN" and sum(changed) == 1:
            pairs = zip(inputs, changed)
            parts = [self.changed(t) if is_changed else self._only(t) for t, is_changed in pairs]
            return functions.copy_op(op, parts).outputs[0]
        raise NotBatchable(REASON)

    def _is_changed(self, tensor: Tensor) -> bool:
        """Whether a list is made of the variable."""
        source = source_of(tensor)
        if source is self._variable:
            return True
        return source.op.type in (_SET, "AddN") and any(map(self._is_changed, source.op.inputs))

    def _only(self, tensor: Tensor) -> Tensor:
        """A new list with one element, zeros for a replica that is not active."""
        op = source_of(tensor).op
        if op.type != _SET:
            raise NotBatchable(REASON)
        (empty,) = self._inner.values_of([source_of(op.inputs[0])])
        return self._with_element(op, of_any_shape(empty.value), None)

    def _with_element(self, op: Operation, handle: Tensor, before: Any) -> Tensor:
        index, element = self._inner.values_of(dependencies.inputs_of(op)[1:3])
        resizes = op.node_def.attr["resize_if_index_out_of_bounds"].b
        if resizes or not isinstance(index, Uniform):
            raise NotBatchable(REASON)
        new = element.stacked()
        old = tf.zeros_like(new)
        if before is not None:
            shape, dtype = tf.constant([before.count] + before.shape), before.dtype
            old = tf.raw_ops.TensorListGetItem(
                input_handle=handle, index=index.value, element_shape=shape, element_dtype=dtype
            )
        chosen = tf.compat.v1.where(self._active, new, old)
        return functions.copy_op(op, [handle, index.value, chosen]).outputs[0]
