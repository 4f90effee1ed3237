"""Estimates from the trace of a step how much memory (HBM) one replica takes on a TPU.

A value is stored where its op is one that XLA does not fuse into the ops that use it, such as a
matrix product, or where several ops use it and what it is computed from takes more. Everything
else is computed again where it is used. A stored value is held from its op to the last op that
needs it, in the order of the trace; XLA's schedule is a similar one. It is within
25 % of what the TPU compiler says of the models of tests/tools/compile/memory_models.py.
"""

from __future__ import annotations

import collections
import functools
import itertools
from typing import TYPE_CHECKING, Iterable, NamedTuple, Sequence

import tensorflow as tf

from tpudist.tfcompat import functions, graphs
from tpudist.virtual import explanations
from tpudist.virtual.step_parts import size
from tpudist.virtual.trace import all_ops

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import Graph, Operation, Tensor
    from tpudist.virtual.annotations import Merge, Program

#: Parts of the types of ops whose results XLA stores: products, windows, reductions, lookups.
_STORED = tuple(
    "MatMul Conv Einsum Pool Gather Segment Scatter Random Sort TopK Cum Bincount ArgM "
    "BiasAddGrad Sum Mean Prod L2Loss TensorListReserve EmptyTensorList If Case".split()
)

#: Types of such ops that are also parts of others' types.
_STORED_TYPES = ("Max", "Min", "Any", "All", "Softmax")

#: Parts of the types of products, whose operands a TPU rounds to bfloat16.
_PRODUCTS = ("MatMul", "Conv", "Einsum")

#: Ops that run a loop, whose results take the place of its arguments.
_LOOPS = ("While", "StatelessWhile")

#: Ops that compute nothing.
_NO_WORK = ("Placeholder", "ReadVariableOp", "Const", "Shape", "ShapeN", "VariableShape")

#: A TPU's tile: the last two axes of an array are padded to so many rows and columns.
_ROWS, _COLUMNS = 8, 128

#: Values of fewer bytes, or elements, are left out: they are many, and come to nothing.
_SMALL, _FEW = 1 << 16, 1 << 9


class Memory(NamedTuple):
    """The memory that one replica of a step takes on a TPU, estimated.

    Args:
      variables: bytes of the variables that the step uses, optimizers' slots among them.
      inputs: bytes of the step's inputs.
      values: bytes of the values that are held where they are most.
      largest: the lines of the user's code whose values take most of them, at most three:
        (bytes, type of the op, "file:line").
    """

    variables: int
    inputs: int
    values: int
    largest: tuple[tuple[int, str, str], ...]

    @property
    def total(self) -> int:
        """Bytes of all."""
        return self.variables + self.inputs + self.values

    def __str__(self) -> str:
        largest = ", ".join("%s %s %s" % (place, kind, size(n)) for n, kind, place in self.largest)
        return "a replica takes about %s of HBM: %s of variables, %s of inputs, %s of values%s" % (
            *map(size, (self.total, self.variables, self.inputs, self.values)),
            " (%s)" % largest if largest else "",
        )


def estimate(program: Program, results: Iterable[Tensor]) -> Memory:
    """Returns the `Memory` of a traced replica function.

    Args:
      program: the `Program`.
      results: tensors of the trace that leave it.
    """
    schedule = _Schedule()
    values: dict[int, int] = {}
    start = 0
    ops = program.graph.get_operations()
    for merge in program.merges:
        schedule.add(ops[start : merge.position], values)
        start = max(start, merge.position)
        schedule.add_merge(merge, values)
    schedule.add(ops[start:], values)
    held, alive = schedule.held({values[id(each)] for each in results if id(each) in values})
    traces = [program.graph] + [merge.graph for merge in program.merges]
    handles, inputs = _captured(traces)
    inputs += [placeholder for placeholder, _ in program.arguments]
    return Memory(
        sum(_bytes_stored(handle) for handle in handles),
        sum(_bytes(tensor, any_layout=True) or 0 for tensor in inputs),
        held,
        _largest(alive),
    )


def _largest(alive: Iterable[tuple[int, Operation]]) -> tuple[tuple[int, str, str], ...]:
    """The `Memory.largest` of values that are held together, with the ops that made them."""
    lines: collections.Counter[tuple[str, str]] = collections.Counter()
    for count, op in alive:
        lines[op.type, explanations.place(op)] += count
    return tuple((count, kind, place) for (kind, place), count in lines.most_common(3))


def _captured(traces: Sequence[Graph]) -> tuple[list[Tensor], list[Tensor]]:
    """The handles of variables, and the other tensors, that graphs captured; each once."""
    outer = {
        id(source): source
        for graph in traces
        for source, _ in functions.captures(graph)
        if getattr(source, "graph", None) is not traces[0]  # a merge captures of the trace
    }
    handles = [each for each in outer.values() if functions.is_resource(each)]
    return handles, [each for each in outer.values() if not functions.is_resource(each)]


class _Step(NamedTuple):
    """An op of the schedule: its inputs and outputs, as numbers of values, and bytes of these."""

    op: Operation
    inputs: list[int]
    outputs: list[int]
    sizes: list[int | None]
    inside: int


class _Schedule:
    """The ops of a step, one after the other, and the values that they hand on."""

    def __init__(self) -> None:
        self._steps: list[_Step] = []
        self._numbers = itertools.count()

    def add(self, ops: Iterable[Operation], values: dict[int, int]) -> None:
        """Adds ops of a graph, those of functions that they call in their place.

        Args:
          ops: the ops.
          values: {id of a tensor of the graph: number of its value}; those of other ops are added.
        """
        for op in ops:
            if not op.outputs or id(op.outputs[0]) not in values:
                self._add(op, values)

    def _add(self, op: Operation, values: dict[int, int]) -> None:
        # The lists of a loop's values, which its gradient needs, are made after the loop.
        lists = [each.op for each in op.inputs if each.dtype == tf.variant]
        self.add([each for each in lists if each.type == "EmptyTensorList"], values)
        bodies = all_ops.called(op, op.graph)
        if op.type in ("PartitionedCall", "StatefulPartitionedCall") and bodies:
            self._inline(op, bodies[0][1], values)
            return
        inputs = [values[id(each)] for each in op.inputs if id(each) in values]
        if op.type in ("Identity", "IdentityN", *_LOOPS) and len(inputs) == len(op.outputs):
            outputs = inputs
        else:
            outputs = [next(self._numbers) for _ in op.outputs]
        values.update(zip(map(id, op.outputs), outputs))
        inside = max((_most_held(body) for _, body in bodies), default=0)
        sizes = [_bytes(each) for each in op.outputs]
        self._steps.append(_Step(op, inputs, outputs, sizes, inside))

    def _inline(self, op: Operation, body: Graph, values: dict[int, int]) -> None:
        inner = {
            id(placeholder): values[id(given)]
            for placeholder, given in zip(body.inputs, op.inputs)
            if id(given) in values
        }
        self.add(body.get_operations(), inner)
        for result, inside in zip(op.outputs, body.outputs):
            if id(inside) in inner:
                values[id(result)] = inner[id(inside)]

    def add_merge(self, merge: Merge, values: dict[int, int]) -> None:
        """Adds the ops of a merge, which take values of the trace and hand some back."""
        inner = {
            id(placeholder): values[id(source)]
            for placeholder, source, _ in merge.inputs
            if id(source) in values
        }
        inner.update(
            (id(held), values[id(source)])
            for source, held in functions.captures(merge.graph)
            if id(source) in values
        )
        self.add(merge.graph.get_operations(), inner)
        for placeholder, tensors in merge.results:
            if id(tensors[0]) in inner:
                values[id(placeholder)] = inner[id(tensors[0])]

    def held(self, results: set[int]) -> tuple[int, list[tuple[int, Operation]]]:
        """Returns the bytes of the values that are held at once, at most, and those values.

        Args:
          results: numbers of the values that leave the step.

        Returns:
          (bytes in all, [(bytes, the op that made the value)]).
        """
        steps, uses = self._needed(results)
        stored = _stored(steps, uses)
        born: collections.Counter[int] = collections.Counter()
        freed: collections.Counter[int] = collections.Counter()
        for each in stored:
            born[each.place] += each.bytes
            freed[each.last_use] += each.bytes
        level = most = peak = 0
        for place, step in enumerate(steps):
            in_place = not _is_stored(step.op.type)
            level += born[place] - (freed[place] if in_place else 0)
            if level + step.inside > most:
                most, peak = level + step.inside, place
            level -= 0 if in_place else freed[place]
        alive = [each for each in stored if each.place <= peak <= each.last_use]
        return most, [(each.bytes, steps[each.place].op) for each in alive]

    def _needed(self, results: set[int]) -> tuple[list[_Step], dict[int, list[int]]]:
        """Returns the ops that results or effects need, and {value: places of its uses}."""
        wanted, kept = set(results), []
        for step in reversed(self._steps):
            if not wanted.isdisjoint(step.outputs) or _has_effect(step.op):
                kept.append(step)
                if step.op.type not in _NO_WORK:
                    wanted.update(step.inputs)
        kept.reverse()
        uses: dict[int, list[int]] = collections.defaultdict(list)
        for place, step in enumerate(kept):
            if step.op.type not in _NO_WORK:
                for value in step.inputs:
                    uses[value].append(place)
        return kept, uses


class _Stored:
    """A value that is stored: its bytes, and the places of its op and of its last use."""

    def __init__(self, count: int, place: int) -> None:
        self.bytes, self.place, self.last_use = count, place, place


def _stored(steps: Sequence[_Step], uses: dict[int, list[int]]) -> list[_Stored]:
    """Returns the values that are stored, and until when."""
    stored: dict[int, _Stored] = {}
    copies = []
    sources: dict[int, list[int]] = collections.defaultdict(list)
    for place, step in enumerate(steps):
        if step.op.type in _NO_WORK:
            continue
        needed = list(dict.fromkeys(each for value in step.inputs for each in sources[value]))
        for each in needed:
            stored[each].last_use = place
        for value, known in zip(step.outputs, step.sizes):
            users = {steps[use].op.type for use in uses[value]}
            own = known
            if own is None:  # It is taken to be as large as what is made of it.
                made = [size for use in uses[value] for size in steps[use].sizes]
                own = max(filter(None, made), default=0)
            if value in step.inputs or own < _SMALL or not users:
                continue
            again = sum(stored[each].bytes for each in needed if stored[each].bytes > own / 16)
            if _is_stored(step.op.type) or (len(set(uses[value])) > 1 and own * 1.1 < again):
                is_float32 = step.op.outputs[step.outputs.index(value)].dtype == tf.float32
                is_rounded = is_float32 and _are_products(users)
                stored[value] = _Stored(own // 2 if is_rounded else own, place)
                sources[value] = [value]
            else:
                sources[value] = needed
                pools = [use for use in uses[value] if "Pool" in steps[use].op.type]
                if pools:  # XLA fuses nothing into what looks through a window.
                    copies.append(_Stored(own, place))
                    copies[-1].last_use = max(pools)
    return [*stored.values(), *copies]


@functools.lru_cache(None)
def _is_stored(op_type: str) -> bool:
    return op_type in _STORED_TYPES or any(part in op_type for part in _STORED)


def _has_effect(op: Operation) -> bool:
    return functions.is_stateful(op) and op.type not in _NO_WORK and "Random" not in op.type


def _most_held(body: Graph) -> int:
    """The bytes of the values that a loop or a branch holds while it runs, at most."""
    schedule = _Schedule()
    values: dict[int, int] = {}
    schedule.add(body.get_operations(), values)
    return schedule.held({values[id(each)] for each in body.outputs if id(each) in values})[0]


def _bytes_stored(handle: Tensor) -> int:
    shape, dtype = graphs.stored_in(handle)
    return (shape is not None and _padded(shape, dtype, True)) or 0


def _bytes(tensor: Tensor, any_layout: bool = False) -> int | None:
    if tensor.dtype == tf.variant:
        return _bytes_of_list(tensor.op)
    return _padded(tensor.shape, tensor.dtype, any_layout)


def _bytes_of_list(op: Operation) -> int:
    """Returns the bytes of a TensorList that a loop has filled; 0 if they are not known."""
    if op.type not in ("TensorListReserve", "EmptyTensorList"):
        return 0
    shape, length = functions.static_value(op.inputs[0]), op.inputs[1]
    lengths = functions.static_value(length.op.inputs[0] if length.op.type == "Max" else length)
    if shape is None or lengths is None or lengths.max() < 0:
        return 0
    axes = [int(lengths.max()), *(axis if axis >= 0 else None for axis in shape.ravel())]
    count = _padded(tf.TensorShape(axes), op.get_attr("element_dtype"), False)
    return (count or 0) // (2 if _are_rounded(_pushed(op.outputs[0])) else 1)


def _pushed(list_: Tensor) -> list[Tensor]:
    """The tensors that loops push to a list."""
    return [
        push.inputs[1]
        for loop in list_.consumers()
        for _, body in all_ops.called(loop, loop.graph)
        for given, placeholder in zip(loop.inputs, body.inputs)
        if given is list_
        for push in placeholder.consumers()
        if push.type == "TensorListPushBack"
    ]


def _are_rounded(tensors: Sequence[Tensor]) -> bool:
    """Whether products alone use float32 numbers: a TPU rounds them to bfloat16 before."""
    users = {user.type for each in tensors for user in each.consumers()} - {"TensorListPushBack"}
    return all(each.dtype == tf.float32 for each in tensors) and _are_products(users)


def _are_products(op_types: set[str]) -> bool:
    return bool(op_types) and all(any(part in each for part in _PRODUCTS) for each in op_types)


def _padded(shape: tf.TensorShape, dtype: tf.DType, any_layout: bool) -> int | None:
    """The bytes of an array, with the padding of tiles; None if its shape is not known.

    XLA puts the axes that are padded the least last; of an image, batch and channels.

    Args:
      shape, dtype: of the array.
      any_layout: whether any axes of an image may be the last ones, as those of an argument.
    """
    count = shape.num_elements()
    if count is None:
        return None
    if not count or (count < _FEW and not any_layout):
        return 0
    axes = [1, 1, *shape.as_list()]
    last = axes if any_layout or len(axes) < 6 else [axes[2], axes[-1]]
    padded = min(
        count // (rows * columns) * _up(rows, _ROWS) * _up(columns, _COLUMNS)
        for rows, columns in itertools.permutations(last, 2)
    )
    return padded * dtype.size


def _up(number: int, multiple: int) -> int:
    return number + -number % multiple
