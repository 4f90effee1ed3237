"""Objects of the virtual TPU, as annotations name them; at run time there is no such module."""

from typing import Any, Callable, Mapping, Sequence, TypeAlias

from tpudist.virtual.replicas.merge import Merge as Merge
from tpudist.virtual.replicas.program import Program as Program
from tpudist.virtual.trace.segments import Segment as Segment
from tpudist.virtual.vectorize.batching import BatchedSegment as BatchedSegment
from tpudist.virtual.vectorize.called_functions import Loop as Loop
from tpudist.virtual.vectorize.rules.node import Node
from tpudist.virtual.vectorize.values.batched_values import BatchedValue as BatchedValue
from tpudist.virtual.vectorize.values.ragged_values import Sizes as Sizes

#: A function, and what it is called with.
Fn: TypeAlias = Callable[..., Any]
Args: TypeAlias = Sequence[Any]
Kwargs: TypeAlias = Mapping[str, Any]

#: A batching rule: from a node to its batched outputs, or None.
Rule: TypeAlias = Callable[[Node], Any]
