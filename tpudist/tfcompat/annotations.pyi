"""TensorFlow's objects, as annotations name them; at run time there is no such module.

No stubs describe them: each name says to a reader what is meant.
"""

from typing import Any, TypeAlias

import tensorflow as tf

#: A tensor, symbolic or eager; its element type; an op, and a graph of ops.
Tensor: TypeAlias = tf.Tensor
DType: TypeAlias = tf.DType
Operation: TypeAlias = tf.Operation
Graph: TypeAlias = tf.Graph
FuncGraph: TypeAlias = Any

#: Messages that describe ops: ``GraphDef``, ``NodeDef``.
GraphDef: TypeAlias = Any
NodeDef: TypeAlias = Any

#: A variable, or one part of a distributed one.
Variable: TypeAlias = tf.Variable

#: A tensor, or a list, tuple or dictionary of nests; a function of ``tf.function``.
Nest: TypeAlias = Any
Function: TypeAlias = Any

#: A strategy of TensorFlow's or of ours, and the object behind it.
Strategy: TypeAlias = Any
Extended: TypeAlias = Any
