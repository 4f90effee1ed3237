"""Names the types that users meet, for checkers; at run time there is no such module.

TensorFlow's objects are TensorFlow's classes here, for a checker of the user's that knows them;
inside the package they are the protocols of `tpudist.tfcompat.annotations`. No stubs describe
``tf.distribute``: what is ``Any`` has its name all the same, so that a reader sees what is meant.
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from typing import Any, TypeAlias, TypeVar

import tensorflow as tf

from tpudist.system.cluster import TPUClusterResolver
from tpudist.system.placement import DeviceAssignment
from tpudist.tfcompat.annotations import Args as Args
from tpudist.tfcompat.annotations import EstimatorSpec as EstimatorSpec
from tpudist.tfcompat.annotations import Fn as Fn
from tpudist.tfcompat.annotations import Scaffold as Scaffold
from tpudist.tfcompat.annotations import T as T

#: A tensor, symbolic or eager, a variable, an op, and a graph of ops.
Tensor: TypeAlias = tf.Tensor
Variable: TypeAlias = tf.Variable
Operation: TypeAlias = tf.Operation
Graph: TypeAlias = tf.Graph

#: A strategy of TensorFlow's or of ours, and the object behind it.
Strategy: TypeAlias = Any
Extended: TypeAlias = Any

#: The arguments by keyword of a function of replicas, of a variable or of a loop.
Kwargs: TypeAlias = Mapping[str, Any] | None

#: ``tf.distribute.RunOptions`` or ``InputOptions``.
Options: TypeAlias = Any | None

#: Any method, which a decorator gives back as it is.
Method = TypeVar("Method", bound=Callable[..., Any])

#: A dataset, and what makes one: for each host, or for a ``tf.distribute.InputContext``.
Dataset: TypeAlias = tf.data.Dataset[Any]
DatasetFn: TypeAlias = Callable[[], Dataset]
InputFn: TypeAlias = Callable[[Any], Dataset]
InputMode: TypeAlias = Any

#: ``tf.distribute.ReduceOp`` SUM or MEAN, or its name.
ReduceOp: TypeAlias = Any | str

#: A dimension that is reduced too; values with what they are reduced to.
Axis: TypeAlias = int | None
Pairs: TypeAlias = Iterable[tuple[Any, Any]]

#: What a strategy is made of: None is the local TPU, a text a TPU's name.
Resolver: TypeAlias = TPUClusterResolver | str | None
Assignment: TypeAlias = DeviceAssignment | None

#: A Python integer, or a scalar tensor.
Integer: TypeAlias = int | tf.Tensor

#: A ``with`` block's; and ops of a graph, None where it was done at once.
Context: TypeAlias = AbstractContextManager[Any]
Ops: TypeAlias = list[tf.Operation] | None

#: A Session of TensorFlow 1.
Session: TypeAlias = tf.compat.v1.Session

#: What Estimator code hands around: TensorFlow's classes or their stand-ins.
RunConfig: TypeAlias = Any
TPUConfig: TypeAlias = Any

#: Parts of a training Session of ``tf.compat.v1.train``.
SessionRunHook: TypeAlias = Any
SaverListener: TypeAlias = Any
