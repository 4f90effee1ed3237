"""Adds ops to graphs (placeholders, copies, branches and loops), and executes single ops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping, Sequence

import numpy as np
import tensorflow as tf
from tensorflow.core.framework import attr_value_pb2
from tensorflow.python.eager import context, execute
from tensorflow.python.framework import ops
from tensorflow.python.ops import gen_array_ops
from tensorflow.python.ops.parallel_for import pfor

from tpudist.tfcompat import versions

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import DType, Message, OpDef, Operation, Tensor


if versions.OPS_TAKE_STACK_TRACES:
    from tensorflow.python.client import pywrap_tf_session

#: What a branch or loop keeps when its functions are replaced.
_KEPT = ("Tcond", "parallel_iterations", "_lower_using_switch_merge")


#: The attribute of a branch or loop whose functions are called, not put in its place.
NOT_INLINED = {"_lower_using_switch_merge": attr_value_pb2.AttrValue(b=False)}

#: {DType: the attribute of that type}
_types: dict[Any, Any] = {}

#: {type of an op: its ``OpDef``}
_op_defs: dict[str, Any] = {}


def op_def(op: Operation) -> OpDef:
    """The ``OpDef`` of the type of `op`, which TensorFlow may read anew each time."""
    if op.type not in _op_defs:
        if op.graph._is_function(op.type):  # its own, of that graph
            return op.op_def
        _op_defs[op.type] = op.op_def
    return _op_defs[op.type]


def add(
    op_type: str,
    inputs: Sequence[Tensor],
    dtypes: Sequence[DType],
    name: str,
    attributes: Mapping[str, Any],
    op_def: object = None,
) -> Operation:
    """Adds an op to the current graph: no argument is converted, no default filled in."""
    graph = ops.get_default_graph()
    create = graph._create_op_internal if versions.CREATES_OPS_UNWRAPPED else graph.create_op
    return create(op_type, inputs, dtypes, name=name, attrs=attributes, op_def=op_def)


def locate(op: Operation, calls: object) -> None:
    """Sets the Python calls that `op` was made by, which its errors show."""
    pywrap_tf_session.TF_SetOpStackTrace(op._c_op, calls)


def copied(op: Operation, copy: Any) -> None:
    """Sets the Python calls that `op` was made by on its `copy`, if the graph keeps them."""
    calls = getattr(op.graph, "made_at", {}).get(op)
    if calls is not None:
        locate(copy, calls)


def type_attribute(dtype: DType) -> Message:
    """The attribute that holds a ``DType``."""
    if dtype not in _types:
        _types[dtype] = attr_value_pb2.AttrValue(type=dtype.as_datatype_enum)
    return _types[dtype]


def placeholder(dtype: DType, shape: Any) -> Tensor:
    """A placeholder in the current graph."""
    attributes = {
        "dtype": type_attribute(dtype),
        "shape": attr_value_pb2.AttrValue(shape=shape.as_proto()),
    }
    return add("Placeholder", [], [dtype], "Placeholder", attributes).outputs[0]


def constant(value: object, dtype: DType = tf.int32) -> Tensor:
    """A constant in the current graph: one op per value, however often it is needed."""
    dtype = tf.as_dtype(dtype)
    array = np.array(value, dtype.as_numpy_dtype)
    graph = tf.compat.v1.get_default_graph()
    if not hasattr(graph, "_tpudist_constants"):
        graph._tpudist_constants = {}
    key = (dtype, array.shape, array.tobytes())
    if key not in graph._tpudist_constants:
        with tf.control_dependencies(None):
            graph._tpudist_constants[key] = tf.constant(array, dtype)
    return graph._tpudist_constants[key]


def reshape(tensor: Tensor, shape: Any) -> Tensor:
    """`tensor` under another shape, a list of ints; itself if it has that shape."""
    if tensor.shape.is_fully_defined() and tensor.shape.as_list() == list(shape):
        return tensor
    sizes = constant(shape)
    attributes = {"T": type_attribute(tensor.dtype), "Tshape": type_attribute(sizes.dtype)}
    return add("Reshape", [tensor, sizes], [tensor.dtype], "Reshape", attributes).outputs[0]


def repeated(tensor: Tensor, count: int) -> Tensor:
    """`count` times the same tensor, along a new first axis.

    Not by ``tf.stack``: of equal inputs TensorFlow's optimizer (2.8 to 2.21 at least) makes
    copies of output 0 of the op that they come from, whichever of its outputs they are.
    """
    if tensor.shape.is_fully_defined():
        return tf.broadcast_to(tensor, constant([count] + tensor.shape.as_list()))
    return tf.broadcast_to(tensor, tf.concat([[count], tf.shape(tensor)], 0))


def upper_bound(ends: object, numbers: object) -> Tensor:
    """For each of `numbers`, int32, how many of `ends`, sorted, are not above it; in few ops."""
    ends, numbers = tf.expand_dims(ends, 0), tf.expand_dims(numbers, 0)
    return tf.squeeze(gen_array_ops.upper_bound(ends, numbers), [0])


def create_with_functions(
    op: Operation,
    first: Any,
    tensors: Sequence[Tensor],
    like: Sequence[Tensor],
    types: Any,
    made: Any,
) -> Operation:
    """A branch or loop like `op` in the current graph, with other functions.

    `first` are inputs that the functions do not take, `tensors` those that they take; outputs are
    `like` tensors. `types` names the attributes of their types; `made` are functions by attribute.
    """
    graph = ops.get_default_graph()
    attributes = {name: op.node_def.attr[name] for name in _KEPT if name in op.node_def.attr}
    for name, values in zip(types, (tensors, like)):
        attributes[name] = attr_value_pb2.AttrValue()
        attributes[name].list.type.extend(value.dtype.as_datatype_enum for value in values)
    attributes["output_shapes"] = attr_value_pb2.AttrValue()
    for value in like:
        attributes["output_shapes"].list.shape.add().CopyFrom(value.shape.as_proto())
    for name, called in made.items():
        functions = called if isinstance(called, list) else [called]
        names = [attr_value_pb2.NameAttrList(name=function.name) for function in functions]
        attributes[name] = (
            attr_value_pb2.AttrValue(list=attr_value_pb2.AttrValue.ListValue(func=names))
            if isinstance(called, list)
            else attr_value_pb2.AttrValue(func=names[0])
        )
        for function in functions:
            function.add_to_graph(graph)
    inputs, dtypes = [*first, *tensors], [value.dtype for value in like]
    created = add(op.type, inputs, dtypes, op.type.lower(), attributes, op_def(op))
    wait(created)
    return created


def alias(tensor: Tensor) -> Tensor:
    """Another object for the same tensor, also in eager mode of 1.14 and 2.0."""
    if not isinstance(tensor, ops.EagerTensor):
        return tf.identity(tensor)
    made = gen_array_ops.identity(tensor)
    made._tpudist_alias_of = origin(tensor)
    return made


def origin(tensor: Tensor) -> Tensor:
    """The eager tensor that `tensor` is an :func:`alias` of, or itself."""
    return getattr(tensor, "_tpudist_alias_of", tensor)


def wait(op: Operation) -> None:
    """Makes `op`, which calls functions, wait for all current control dependencies.

    TensorFlow leaves out those that the inputs of an op have, or are, but those ops of a function
    that do not need the inputs would not wait for them.
    """
    graph = ops.get_default_graph()
    known = set(op.control_inputs)
    op._add_control_inputs(
        [each for each in graph._current_control_dependencies() if each not in known]
    )


#: {(op type, attributes, values): outputs} of :func:`evaluated`: gradients ask the same often.
_evaluated: dict[Any, Any] = {}

#: At most so many of them are kept.
_KEPT_VALUES = 4096


def evaluated(op: Operation, values: Any) -> list[Any] | None:
    """The outputs of an op without an effect, executed at once with an array per input; or None.

    It fails, or has attributes other than types, numbers and strings, where there are none.
    """
    attributes: list[Any] = []
    node = op.node_def
    for name in [attr.name for attr in op.op_def.attr]:
        kind = node.attr[name].WhichOneof("value")
        if kind not in ("type", "i", "b", "f", "s"):
            return None
        attributes += [name, getattr(node.attr[name], kind)]
    arrays = [np.asarray(v, t.dtype.as_numpy_dtype) for v, t in zip(values, op.inputs)]
    key = (op.type, tuple(attributes), tuple((a.dtype, a.shape, a.tobytes()) for a in arrays))
    if key not in _evaluated:
        if len(_evaluated) >= _KEPT_VALUES:
            _evaluated.clear()
        kind, count, here = op.type.encode(), len(op.outputs), context.context()
        try:
            with context.eager_mode(), context.device("CPU:0"):
                held = [tf.constant(a, tensor.dtype) for a, tensor in zip(arrays, op.inputs)]
                outputs = execute.execute(kind, count, held, tuple(attributes), here)
                _evaluated[key] = [tensor.numpy() for tensor in outputs]
        except tf.errors.OpError:  # it fails when the program runs it, if it does
            _evaluated[key] = None
    return _evaluated[key]


# TensorFlow's own converters for ``tf.vectorized_map``.


class _Loop:
    """The part of TensorFlow's parallel loop that converters of single ops read."""

    all_indices_partitioned = False
    pfor_config = None

    def __init__(self, count: int) -> None:
        self._count = count
        self.loop_len_vector = tf.constant([count])

    @property
    def all_indices(self) -> Tensor:
        """The numbers of the copies."""
        return tf.range(self._count)


def converted(
    op: Operation, count: int, inputs: Sequence[tuple[Tensor, bool]]
) -> list[tuple[Tensor, bool]] | None:
    """The outputs of `count` copies of an op, made by one; pairs (tensor, is stacked), or None."""
    converter = pfor._pfor_converter_registry.get(op.type)
    if converter is None:
        return None
    given = [pfor.wrap(tensor, is_stacked) for tensor, is_stacked in inputs]
    try:
        results = converter(pfor._PforInput(_Loop(count), op, given))
    except Exception:  # noqa: BLE001
        return None  # however it says what it does not cover
    results = [results] if isinstance(results, pfor.WrappedTensor) else list(results)
    return [(each.t, each.is_stacked) for each in results]
