"""Which rule an op gets where sizes are known only when it runs."""

from tpudist.virtual import batched_values
from tpudist.virtual.batching_rules import dims, uneven
from tpudist.virtual.symbolic_shapes import Axes, Dims
from tpudist.virtual.uneven_values import Uneven

#: The batched values that these rules are for.
UNEVEN = (Axes, Dims, Uneven)

_OF_SHAPES = {op_type: uneven.RULES[op_type] for op_type in uneven.OF_SHAPES}
_OF_VALUES = {op_type: dims.RULES[op_type] for op_type in ("Shape", "ShapeN", "Size")}


def of_unknown_sizes(node):
    """The batched values of the outputs of the op of a `Node`, or None.

    Some of its inputs are held as `UNEVEN` says.
    """
    for value in node.inputs:
        if isinstance(value, batched_values.Each) and not isinstance(value, Axes):
            return None
        if isinstance(value, batched_values.Lists):
            return None
    if any(isinstance(value, (Axes, Uneven)) for value in node.inputs):
        rules = [uneven.RULES, _OF_VALUES]
    else:
        rules = [dims.RULES, _OF_SHAPES]
    for known in rules:
        rule = known.get(node.op.type)
        found = rule and rule(node)
        if found is not None:
            return found
    return None
