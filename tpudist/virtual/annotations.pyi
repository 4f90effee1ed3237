"""Objects of the virtual TPU, as annotations name them; at run time there is no such module."""

from typing import Any, Callable, Mapping, Sequence, TypeAlias

#: A function, and what it is called with.
Fn: TypeAlias = Callable[..., Any]
Args: TypeAlias = Sequence[Any]
Kwargs: TypeAlias = Mapping[str, Any]

#: What stands for a tensor of a trace, for all replicas; see ``vectorize.values.batched_values``.
BatchedValue: TypeAlias = Any

#: A segment of a trace, from ``trace.segments``; a `Function` and a `Loop` that an op of it
#: calls, from ``vectorize.called_functions``.
Segment: TypeAlias = Any
CalledFunction: TypeAlias = Any
Loop: TypeAlias = Any

#: A batching rule: from a ``vectorize.rules.Node`` to its batched outputs, or None.
Rule: TypeAlias = Callable[[Any], Any]

#: How many rows each replica has: ``vectorize.values.ragged_values.Sizes``.
Sizes: TypeAlias = Any

#: The trace of a replica function, ``replicas.program.Program``, and a merge of it.
Program: TypeAlias = Any
Merge: TypeAlias = Any
