"""TensorFlow's objects, as annotations name them; at run time there is no such module.

TensorFlow tells checkers nothing of its classes, so each is ``Any``: its name says what is meant.
"""

from typing import Any, TypeAlias

#: A tensor, symbolic or eager; its element type; an op, and a graph of ops.
Tensor: TypeAlias = Any
DType: TypeAlias = Any
Operation: TypeAlias = Any
Graph: TypeAlias = Any
FuncGraph: TypeAlias = Any

#: What a graph has on disk or on its way to a runtime: ``GraphDef``, ``NodeDef``.
GraphDef: TypeAlias = Any
NodeDef: TypeAlias = Any

#: A variable, or one part of a distributed one.
Variable: TypeAlias = Any

#: A nest of tensors, as ``tf.nest`` has it; a function of ``tf.function``.
Nest: TypeAlias = Any
Function: TypeAlias = Any

#: A strategy and the object behind it.
Strategy: TypeAlias = Any
Extended: TypeAlias = Any
