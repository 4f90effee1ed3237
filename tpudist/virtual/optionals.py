"""Optionals, in which branches hand to their gradients what they computed.

One place of an If op has for each branch another thing, or nothing: the gradient of a branch
unpacks what that branch has put there.
"""

import functools

import tensorflow as tf

from tpudist.virtual.tensor_lists import NotJoined
from tpudist.virtual.uniform_values import Uniform

#: The op that puts a value into an optional, and that of one without a value.
FULL, EMPTY = "OptionalFromValue", "OptionalNone"


class Optionals:
    """One optional for all replicas, which has their stacked values.

    Args:
      count: number of replicas.
      kinds: what it has after each branch, a pair of ``DType`` and shape for one replica, or
        None; of one branch while inside of it.
      tensor: the optional.
      condition: what tells the branches apart, a tensor; None inside of a branch.
    """

    #: How many tensors hold it.
    width = 1

    #: All are held alike, whatever they have.
    fit = "optional"

    def __init__(self, count, kinds=(), tensor=None, condition=None):
        self.count = count
        self.kinds = list(kinds)
        self.value = tensor
        self._condition = condition

    @classmethod
    def of(cls, count, value, dtype, shape):
        """The optional of a stacked `value`, which has `shape` for one replica."""
        return cls(count, [(dtype, shape)], tf.raw_ops.OptionalFromValue(components=[value]))

    def tensors(self):
        """The tensors that hold this batched value."""
        return [self.value]

    def like(self, tensors):
        """The same batched value, held by other tensors."""
        return Optionals(self.count, self.kinds, *tensors)

    def held(self, tensor):
        """The same batched value of `tensor` (of the trace), in placeholders."""
        return self.like([tf.compat.v1.placeholder(tf.variant, [])])

    def static_shape(self, tensor):
        """The static shape of one replica's value of `tensor`, of the trace."""
        return tensor.shape

    def after(self, condition, parts):
        """The same behind an op with branches of which `parts` are what each one gives."""
        kinds = [part.kinds[0] if isinstance(part, Optionals) else _kind(part) for part in parts]
        return Optionals(self.count, kinds, self.value, condition)

    def each(self):
        """One optional per replica."""
        if not self.kinds or len(self.kinds) > 1 and self._condition is None:
            raise NotJoined("what a gradient needs of a branch is held for all replicas")
        return [self._of_replica(replica) for replica in range(self.count)]

    def _of_replica(self, replica):
        return _switch(
            self._condition, [functools.partial(self._made, kind, replica) for kind in self.kinds]
        )

    def _made(self, kind, replica):
        if kind is None:
            return tf.raw_ops.OptionalNone()
        return _full(unpacked(self, *kind)[replica])


class ByBranch:
    """What branches hand to their gradients where replicas take different ones.

    Args:
      condition: the batched value that tells which one.
      taken: for each branch but the last, a bool tensor ``[replicas]``: which take it.
      values: for each branch the batched value of its optional.
    """

    def __init__(self, condition, taken, values):
        self._condition = condition
        self._taken = taken
        self._values = values

    def of_branch(self, index, condition):
        """The batched value that the gradient of a branch gets.

        Raises:
          NotJoined: it is not by the same `condition`, a batched value.
        """
        if condition is not self._condition:
            raise NotJoined("replicas take different branches of another condition")
        return self._values[index]

    def sources(self):
        """The tensors of which every form of it is made."""
        return [tensor for value in self._values for tensor in value.tensors()]

    def tensors(self):
        """The tensors that hold this batched value: none hold it for all replicas."""
        raise NotJoined("replicas take different branches, whose gradients are not joined")

    def held(self, tensor):
        """The same batched value of `tensor` (of the trace), in placeholders: there is none."""
        return self.tensors()

    def static_shape(self, tensor):
        """The static shape of one replica's value of `tensor`, of the trace."""
        return tensor.shape

    def each(self):
        """One optional per replica: that of the branch which it takes."""
        columns = [value.each() for value in self._values]
        return [self._chosen(replica, own) for replica, own in enumerate(zip(*columns))]

    def _chosen(self, replica, optionals):
        found = optionals[-1]
        for taken, one in reversed(list(zip(self._taken, optionals))):
            found = tf.cond(taken[replica], lambda one=one: one, lambda rest=found: rest)
        return found


def unpacked(optional, dtype, shape):
    """The stacked values that an `Optionals` has, of `shape` for one replica."""
    whole = [optional.count] + list(shape)
    (found,) = tf.raw_ops.OptionalGetValue(
        optional=optional.value, output_types=[dtype], output_shapes=[whole]
    )
    found.set_shape(whole)
    return found


def converted(batched, outline):
    """`batched`, held as `outline`, an `Optionals`, which can hold it."""
    if not isinstance(batched, Uniform) or batched.value.op.type not in (FULL, EMPTY):
        raise NotJoined("what a gradient needs of a branch is held in another way")
    if batched.value.op.type == EMPTY:
        return outline.like([batched.value])
    return outline.like([_full(tf.stack([batched.value.op.inputs[0]] * outline.count))])


def _full(value):
    return tf.raw_ops.OptionalFromValue(components=[value])


def _kind(batched):
    """What the optional of a branch has that is the same for every replica."""
    inputs = batched.value.op.inputs if batched.value.op.type == FULL else ()
    return (inputs[0].dtype, inputs[0].shape.as_list()) if len(inputs) else None


def _switch(condition, functions):
    if len(functions) == 1:
        return functions[0]()
    if condition.dtype == tf.bool:
        return tf.cond(condition, *functions)
    return tf.switch_case(condition, functions)
