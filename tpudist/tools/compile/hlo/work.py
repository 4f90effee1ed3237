"""What instructions do: FLOPs, and bytes of the device's memory."""

import functools
import operator

from tpudist.tools.compile.hlo import shapes

#: Ops of one FLOP for each number of the result.
_ARITHMETIC = frozenset(
    "abs add and ceil compare clamp divide floor maximum minimum multiply negate not or power "
    "remainder round-nearest-afz round-nearest-even select sign subtract xor".split()
)

#: Ops that move nothing.
_FREE = frozenset(
    "parameter constant tuple get-tuple-element bitcast while conditional call after-all "
    "copy-done all-reduce-done all-gather-done async-done async-update optimization-barrier "
    "partition-id replica-id".split()
)

#: Ops that look at their operand another way.
_VIEWS = ("bitcast", "reshape")

#: The fast memory beside a core, which is no traffic.
_BESIDE_THE_CORE = 1


class Counter:
    """Counts what the instructions of a module do, each once.

    Args:
      module: a `messages.Module` of a compiled program.
    """

    def __init__(self, module):
        self._computations = {each.id: each for each in module.computations}
        self._flops = {}

    def flops(self, instruction, operands):
        """FLOPs of one instruction, with all that is fused into it.

        Args:
          instruction: the instruction.
          operands: its operands.
        """
        if instruction.opcode == "convolution":
            return _of_convolution(instruction, operands[0].shape, operands[1].shape)
        size = _elements(instruction.shape)
        if instruction.opcode == "dot":
            contracted = instruction.dot.lhs_contracting_dimensions
            return 2 * size * _product(operands[0].shape.dimensions[each] for each in contracted)
        if instruction.opcode in ("fusion", "async-start"):
            return sum(map(self._of_computation, instruction.called_computation_ids))
        if instruction.opcode in ("reduce", "all-reduce"):
            return max(0, _elements(operands[0].shape) - size)
        if instruction.opcode == "reduce-window":
            return size * (_product(each.size for each in instruction.window.dimensions) - 1)
        return size if instruction.opcode in _ARITHMETIC else 0

    def _of_computation(self, number):
        if number not in self._flops:
            computation = self._computations[number]
            by_id = {each.id: each for each in computation.instructions}
            self._flops[number] = sum(
                self.flops(each, [by_id[operand] for operand in each.operand_ids])
                for each in computation.instructions
            )
        return self._flops[number]

    def bytes(self, instruction, operands):
        """Bytes that one instruction reads from and writes to the device's memory.

        Args:
          instruction: the instruction, of a computation that is not fused.
          operands: its operands.
        """
        if instruction.opcode in _FREE or instruction.custom_call_target == "AllocateBuffer":
            return 0
        if instruction.opcode in ("copy-start", "async-start"):
            result = instruction.shape.tuple_shapes[instruction.opcode == "async-start"]
            given = operands[0].shape
            return sum(shapes.logical_bytes(result) for each in (given, result) if _moved(each))
        if instruction.opcode in ("dynamic-slice", "gather"):
            return 2 * _moved(instruction.shape)
        if instruction.opcode == "dynamic-update-slice":
            return 2 * _moved(operands[1].shape)
        if instruction.opcode == "fusion":
            return self._of_fusion(instruction, operands)
        return _moved(instruction.shape) + sum(_moved(each.shape) for each in operands)

    def _of_fusion(self, instruction, operands):
        inside = self._computations[instruction.called_computation_ids[0]]
        total = min(_moved(instruction.shape), self._written(inside, inside.root_id))
        for each in inside.instructions:
            if each.opcode == "parameter":
                whole = _moved(operands[each.parameter_number].shape)
                total += min(whole, self._read(inside, each.id)) if whole else 0
        return total

    def _read(self, computation, number):
        """Bytes that a fusion takes of one of its values: what is sliced is not read whole."""
        total = 0
        for user in computation.instructions:
            for place, operand in enumerate(user.operand_ids):
                if operand == number:
                    total += self._taken(computation, user, place)
        return total

    def _taken(self, computation, user, place):
        if user.opcode in _VIEWS:
            return self._read(computation, user.id)
        if user.opcode == "dynamic-update-slice" and place == 0:
            return 0
        if user.opcode in ("dynamic-slice", "slice", "gather") and place == 0:
            return shapes.logical_bytes(user.shape)
        if user.opcode == "fusion":
            inside = self._computations[user.called_computation_ids[0]]
            return sum(
                self._read(inside, each.id)
                for each in inside.instructions
                if each.opcode == "parameter" and each.parameter_number == place
            )
        by_id = {each.id: each for each in computation.instructions}
        return shapes.tiled_bytes(by_id[user.operand_ids[place]].shape)

    def _written(self, computation, number):
        """Bytes that a fusion writes: what is updated in place is not written whole."""
        by_id = {each.id: each for each in computation.instructions}
        root = by_id[number]
        if root.opcode == "tuple":
            return sum(self._written(computation, each) for each in root.operand_ids)
        if root.opcode in _VIEWS:
            return self._written(computation, root.operand_ids[0])
        if root.opcode == "dynamic-update-slice":
            return shapes.logical_bytes(by_id[root.operand_ids[1]].shape)
        if root.opcode == "fusion":
            inside = self._computations[root.called_computation_ids[0]]
            return self._written(inside, inside.root_id)
        return shapes.tiled_bytes(root.shape)


def _moved(shape):
    """Bytes of what lies in the device's memory."""
    if shape.tuple_shapes:
        return sum(map(_moved, shape.tuple_shapes))
    return 0 if shape.layout.memory_space == _BESIDE_THE_CORE else shapes.tiled_bytes(shape)


def _of_convolution(instruction, image, kernel):
    """Two FLOPs for each pair of numbers that meet; those with padding do not."""
    about, shape = instruction.convolution, instruction.shape.dimensions
    met = _product(
        _meeting(window, shape[output], image.dimensions[given])
        for window, output, given in zip(
            instruction.window.dimensions,
            about.output_spatial_dimensions,
            about.input_spatial_dimensions,
        )
    )
    others = _product(
        size for axis, size in enumerate(shape) if axis not in about.output_spatial_dimensions
    )
    features = kernel.dimensions[about.kernel_input_feature_dimension]
    return 2 * others * features * met // max(1, instruction.batch_group_count)


def _meeting(window, output, given):
    """How many pairs of an output position and a window position are on a number.

    Args:
      window: along one axis.
      output, given: sizes of the result and of the input along it.
    """
    base, stride = max(1, window.base_dilation), max(1, window.stride)
    last, total = (given - 1) * base, 0
    for place in range(window.size):
        offset = place * max(1, window.window_dilation) - window.padding_low
        low = max(0, -(offset // stride))
        high = min(output - 1, (last - offset) // stride)
        if base == 1:
            total += max(0, high - low + 1)
        else:
            total += sum((each * stride + offset) % base == 0 for each in range(low, high + 1))
    return total


def _elements(shape):
    if shape.tuple_shapes:
        return sum(map(_elements, shape.tuple_shapes))
    return _product(shape.dimensions)


def _product(numbers):
    return functools.reduce(operator.mul, numbers, 1)
