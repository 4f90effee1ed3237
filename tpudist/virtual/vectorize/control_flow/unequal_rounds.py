"""Values that a divergent loop passes to its gradient: lists, and each replica's rounds.

Each round pushes an element to lists, for all replicas. Of these elements a replica has as many
as it did rounds, and the loop of its gradient pops that many, the last one first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

import tensorflow as tf

from tpudist.tfcompat import functions
from tpudist.virtual.trace import dependencies
from tpudist.virtual.vectorize.values import batched_values, tensor_lists
from tpudist.virtual.vectorize.values.batched_values import NotBatchable

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import Tensor
    from tpudist.virtual.annotations import BatchedValue, CalledFunction, Loop


#: The op that appends an element to a list, and the op that removes the last one.
PUSH, POP = "TensorListPushBack", "TensorListPopBack"

_SUMS = ("Add", "AddV2", "AddN")


class RoundCounts(batched_values.Batch):
    """The numbers of rounds of a loop that the replicas did, an int32 each.

    Args:
      count: number of replicas.
      key: an object that identifies the loop.
      tensor: the numbers, ``[count]``.
    """

    #: Its layout is that of a plain `Batch`.
    layout_class = batched_values.Batch

    def __init__(self, count: int, key: Any, tensor: Tensor | None = None) -> None:
        super().__init__(count, [], stacked=tensor)
        self.key = key

    def with_tensors(self, tensors: Sequence[Tensor]) -> BatchedValue:
        """The numbers of rounds of the same loop in one tensor."""
        return RoundCounts(self.count, self.key, *tensors)


class UnequalLists(batched_values.BatchedValue):
    """The lists of replicas that did unequal numbers of rounds, in one list.

    Args:
      rounds: the `RoundCounts` of the loop.
      inner: the list as the loop of the gradient takes it, `Uniform` or `StackedList`.
    """

    num_tensors = 2

    def __init__(self, rounds: Any, inner: Any) -> None:
        self.rounds = rounds
        self.inner = inner
        self.count = rounds.count

    @property
    def layout_key(self) -> tuple[Any, ...]:
        """Equal for two values of this class with the same layout."""
        inner = self.inner
        return id(self.rounds.key), type(inner), getattr(inner, "shape", None)

    def tensors(self) -> Any:
        """The tensors that it consists of."""
        return self.inner.tensors() + self.rounds.tensors()

    def with_tensors(self, tensors: Sequence[Tensor]) -> BatchedValue:
        """Lists of the same layout, of the list and the numbers of rounds."""
        stacked, rounds = tensors
        return UnequalLists(self.rounds.with_tensors([rounds]), self.inner.with_tensors([stacked]))

    def placeholders(self, tensor: Tensor) -> BatchedValue:
        """Placeholders of the same layout for `tensor`, of the trace."""
        rounds = tf.compat.v1.placeholder(tf.int32, [self.count])
        return UnequalLists(self.rounds.with_tensors([rounds]), self.inner.placeholders(tensor))

    def per_replica(self) -> list[Any]:
        """One list per replica, without elements from after its last round."""
        return [
            tf.raw_ops.TensorListResize(input_handle=own, size=size)
            for own, size in zip(self.inner.per_replica(), self.rounds.per_replica())
        ]


def counter_and_lists(loop: Loop, inputs: Any) -> tuple[Any, ...]:
    """The variables of a divergent loop that its gradient needs.

    Args:
      loop: a `called_functions.Loop` in which replicas do unequal numbers of rounds.
      inputs: its batched inputs.

    Returns:
      The index of the variable that counts the rounds, or None, and the indices of lists.

    Raises:
      NotBatchable: the loop does more with lists than to push to new ones.
    """
    lists = [
        i
        for i, tensor in enumerate(loop.body.inputs)
        if tensor.dtype == tf.variant and not is_invariant(loop, i)
    ]
    counter = next((i for i in range(len(inputs)) if _is_counter(loop, inputs, i)), None)
    one_list = (batched_values.Uniform, tensor_lists.StackedList)
    new = [inputs[i].value if isinstance(inputs[i], one_list) else None for i in lists]
    if (lists and counter is None) or not all(
        value is not None
        and value.op.type == "EmptyTensorList"
        and _is_changed_only_by(loop, i, PUSH)
        for i, value in zip(lists, new)
    ):
        raise NotBatchable("replicas do different numbers of rounds with lists")
    return counter, lists


def mark_for_gradient(outputs: Any, counter: Any, lists: Any) -> Any:
    """Marks the outputs of a loop for its gradient; see :func:`counter_and_lists`."""
    if counter is not None:
        outputs[counter] = RoundCounts(outputs[counter].count, object(), outputs[counter].stacked())
    for i in lists:
        outputs[i] = UnequalLists(outputs[counter], outputs[i])
    return outputs


def counter_and_rounds(loop: Loop, inputs: Any) -> Any:
    """The variables of a gradient's loop that count its rounds, and hold their number.

    Returns:
      Two indices; None if it is not the gradient of a divergent loop.
    """
    less = root(loop.condition.outputs[0]).op
    variables = loop.condition.inputs
    if less.type != "Less":
        return None
    positions = [
        [i for i, tensor in enumerate(variables) if tensor is root(operand)]
        for operand in less.inputs
    ]
    if not all(positions):
        return None
    (counter,), (rounds,) = positions
    if not (isinstance(inputs[rounds], RoundCounts) and is_invariant(loop, rounds)):
        return None
    users = _consumers(loop.body, loop.body.inputs[counter])
    return (counter, rounds) if _is_counter(loop, inputs, counter) and len(users) == 1 else None


def gradient_inputs(loop: Loop, inputs: Any, counter: Any, rounds: Any) -> Any:
    """The inputs of the gradient's loop in which all replicas end together.

    A replica's counter is below 0 until it begins.

    Raises:
      NotBatchable: the loop does more with lists than to pop what its loop has pushed.
    """
    counts = inputs[rounds].stacked()
    shifted = batched_values.Batch(inputs[rounds].count, [], stacked=counts - tf.reduce_max(counts))
    shifted_inputs = list(inputs)
    shifted_inputs[counter] = shifted
    for i, tensor in enumerate(loop.body.inputs):
        if tensor.dtype == tf.variant and not is_invariant(loop, i):
            is_own = (
                isinstance(inputs[i], UnequalLists) and inputs[i].rounds.key is inputs[rounds].key
            )
            if not (is_own and _is_changed_only_by(loop, i, POP)):
                raise NotBatchable("replicas do different numbers of rounds with lists")
            shifted_inputs[i] = inputs[i].inner
    return shifted_inputs


def root(tensor: Tensor) -> Any:
    """The tensor that `tensor` is after any number of Identity ops."""
    while tensor.op.type == "Identity":
        tensor = tensor.op.inputs[0]
    return tensor


def is_invariant(loop: Loop, i: int) -> bool:
    """Whether variable `i` of a loop is an invariant: no round changes it."""
    return root(loop.body.outputs[i]) is loop.body.inputs[i]


def is_accumulator(body: CalledFunction, i: int) -> bool:
    """Whether variable `i` is an accumulator: a round only adds to it."""
    tensor, result = body.inputs[i], body.outputs[i]
    while tensor is not result:
        users = _consumers(body, tensor)
        if len(users) != 1 or users[0].type not in _SUMS + ("Identity",):
            return False
        (tensor,) = users[0].outputs
    return not _consumers(body, tensor)


def _consumers(body: CalledFunction, tensor: Tensor) -> list[Any]:
    """The ops of `body` that take `tensor`, each as often as it takes it."""
    return [
        op
        for op in body.body
        for input_tensor in dependencies.inputs_of(op)
        if input_tensor is tensor
    ]


def _is_counter(loop: Loop, inputs: Any, i: int) -> bool:
    """Whether variable `i` counts the rounds, from 0."""
    tensor, result = loop.body.inputs[i], root(loop.body.outputs[i])
    if tensor.dtype != tf.int32 or result.op.type not in ("Add", "AddV2"):
        return False
    start = inputs[i].constant() if isinstance(inputs[i], batched_values.Uniform) else None
    counter, step = result.op.inputs
    return start == 0 and functions.static_value(step) == 1 and root(counter) is tensor


def _is_changed_only_by(loop: Loop, i: int, op_type: str) -> bool:
    """Whether a round does one op, of type `op_type`, with the list in variable `i`."""
    tensor, op = loop.body.inputs[i], root(loop.body.outputs[i]).op
    return op.type == op_type and op.inputs[0] is tensor and len(_consumers(loop.body, tensor)) == 1
