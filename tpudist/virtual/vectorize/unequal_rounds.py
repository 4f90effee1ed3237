"""Values that a divergent loop hands to its gradient: replicas do unequal numbers of rounds.

Each round adds an element to lists, for all replicas; a replica's own lists have as many
elements as it did rounds. The loop of the gradient takes the last ones first, that many.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import tensorflow as tf

from tpudist.tfcompat import functions
from tpudist.virtual.trace import segments
from tpudist.virtual.vectorize import batched_values
from tpudist.virtual.vectorize.tensor_lists import NotBatchable

if TYPE_CHECKING:
    from typing import Any, Sequence

    from tpudist.tfcompat.annotations import Tensor
    from tpudist.virtual.annotations import BatchedValue, CalledFunction, Loop


#: The ops that add an element to a list, and take the last one.
PUSH, POP = "TensorListPushBack", "TensorListPopBack"

_SUMS = ("Add", "AddV2", "AddN")


class Rounds(batched_values.Batch):
    """How many rounds of a loop each replica did, an int32.

    Args:
      count: number of replicas.
      key: stands for the loop.
      tensor: the numbers, ``[count]``.
    """

    #: It is held as any `Batch` of numbers.
    held_like = batched_values.Batch

    def __init__(self, count: int, key: Any, tensor: Tensor | None = None) -> None:
        super().__init__(count, [], stacked=tensor)
        self.key = key

    def like(self, tensors: Sequence[Tensor]) -> BatchedValue:
        """The same batched value, held by other tensors."""
        return Rounds(self.count, self.key, *tensors)


class Lists:
    """The lists of replicas that did different numbers of rounds, in one list.

    Args:
      rounds: the `Rounds` of the loop.
      inside: how the loop of the gradient holds the list: `Uniform` or `Lists`.
    """

    #: How many tensors hold it.
    width = 2

    def __init__(self, rounds: Any, inside: Any) -> None:
        self.rounds = rounds
        self.inside = inside
        self.count = rounds.count

    @property
    def fit(self) -> tuple[Any, ...]:
        """What those have in common that are held alike."""
        inside = self.inside
        return id(self.rounds.key), type(inside), getattr(inside, "shape", None)

    def tensors(self) -> Any:
        """The tensors that hold this batched value."""
        return self.inside.tensors() + self.rounds.tensors()

    def like(self, tensors: Sequence[Tensor]) -> BatchedValue:
        """The same batched value, held by other tensors."""
        held, rounds = tensors
        return Lists(self.rounds.like([rounds]), self.inside.like([held]))

    def held(self, tensor: Tensor) -> BatchedValue:
        """The same batched value of `tensor` (of the trace), in placeholders."""
        rounds = tf.compat.v1.placeholder(tf.int32, [self.count])
        return Lists(self.rounds.like([rounds]), self.inside.held(tensor))

    def static_shape(self, tensor: Tensor) -> Any:
        """The static shape of one replica's value of `tensor`, of the trace."""
        return tensor.shape

    def each(self) -> list[Any]:
        """One list per replica, without what was added after it was done."""
        return [
            tf.raw_ops.TensorListResize(input_handle=held, size=size)
            for held, size in zip(self.inside.each(), self.rounds.each())
        ]


def left_by(loop: Loop, given: Any) -> tuple[Any, ...]:
    """What the variables of a loop become for its gradient.

    Args:
      loop: a `called_functions.Loop` that replicas leave at different times.
      given: the batched value of each of its variables.

    Returns:
      The index of the variable that counts the rounds, or None, and those of lists.

    Raises:
      NotBatchable: it does more to lists than to add to new ones.
    """
    lists = [
        i
        for i, tensor in enumerate(loop.body.inputs)
        if tensor.dtype == tf.variant and not is_kept(loop, i)
    ]
    counts = next((i for i in range(len(given)) if _counts(loop, given, i)), None)
    new = [getattr(given[i], "value", None) for i in lists]
    if (lists and counts is None) or not all(
        value is not None and value.op.type == "EmptyTensorList" and _changes(loop, i, PUSH)
        for i, value in zip(lists, new)
    ):
        raise NotBatchable("replicas do different numbers of rounds with lists")
    return counts, lists


def leave(made: Any, counts: Any, lists: Any) -> Any:
    """The batched values `made` of a loop's outputs, for its gradient; see :func:`left_by`."""
    if counts is not None:
        made[counts] = Rounds(made[counts].count, object(), made[counts].stacked())
    for i in lists:
        made[i] = Lists(made[counts], made[i])
    return made


def gradient_of(loop: Loop, given: Any) -> Any:
    """Which variables of the loop of a gradient count its rounds, and say how many there are.

    Returns:
      Two indices, or None: it is not that of a loop with different numbers of rounds.
    """
    less = root(loop.condition.outputs[0]).op
    inputs = loop.condition.inputs
    if less.type != "Less":
        return None
    found = [[i for i, held in enumerate(inputs) if held is root(t)] for t in less.inputs]
    if not all(found):
        return None
    (counter,), (rounds,) = found
    if not (isinstance(given[rounds], Rounds) and is_kept(loop, rounds)):
        return None
    used = _consumers(loop.body, loop.body.inputs[counter])
    return (counter, rounds) if _counts(loop, given, counter) and len(used) == 1 else None


def begun_late(loop: Loop, given: Any, counter: Any, rounds: Any) -> Any:
    """What the loop of a gradient is given, if all replicas end it together.

    Until a replica begins, its counter is below 0.

    Raises:
      NotBatchable: it does more to lists than to take elements that its loop has added.
    """
    number = given[rounds].stacked()
    late = batched_values.Batch(given[rounds].count, [], stacked=number - tf.reduce_max(number))
    found = list(given)
    found[counter] = late
    for i, tensor in enumerate(loop.body.inputs):
        if tensor.dtype == tf.variant and not is_kept(loop, i):
            own = isinstance(given[i], Lists) and given[i].rounds.key is given[rounds].key
            if not (own and _changes(loop, i, POP)):
                raise NotBatchable("replicas do different numbers of rounds with lists")
            found[i] = given[i].inside
    return found


def root(tensor: Tensor) -> Any:
    """The tensor that ops which pass it on give as `tensor`."""
    while tensor.op.type == "Identity":
        tensor = tensor.op.inputs[0]
    return tensor


def is_kept(loop: Loop, i: int) -> bool:
    """Whether a variable of a loop stays as it is."""
    return root(loop.body.outputs[i]) is loop.body.inputs[i]


def is_added_to(body: CalledFunction, i: int) -> bool:
    """Whether a round does nothing with variable `i` but to add something to it."""
    tensor, result = body.inputs[i], body.outputs[i]
    while tensor is not result:
        used = _consumers(body, tensor)
        if len(used) != 1 or used[0].type not in _SUMS + ("Identity",):
            return False
        (tensor,) = used[0].outputs
    return not _consumers(body, tensor)


def _consumers(body: CalledFunction, tensor: Tensor) -> list[Any]:
    """The ops of `body` that take `tensor`, one as often as it takes it."""
    return [op for op in body.body for taken in segments.inputs_of(op) if taken is tensor]


def _counts(loop: Loop, given: Any, i: int) -> bool:
    """Whether variable `i` counts the rounds, from 0."""
    tensor, result = loop.body.inputs[i], root(loop.body.outputs[i])
    if tensor.dtype != tf.int32 or result.op.type not in ("Add", "AddV2"):
        return False
    begins = given[i].constant() if isinstance(given[i], batched_values.Uniform) else None
    held, step = result.op.inputs
    return begins == 0 and functions.static_value(step) == 1 and root(held) is tensor


def _changes(loop: Loop, i: int, op_type: str) -> bool:
    """Whether all that a round does to the list of variable `i` is one op."""
    tensor, op = loop.body.inputs[i], root(loop.body.outputs[i]).op
    return op.type == op_type and op.inputs[0] is tensor and len(_consumers(loop.body, tensor)) == 1
