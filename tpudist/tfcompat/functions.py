"""TensorFlow functions: what they are, how AutoGraph sees them, how they are made and called."""

from __future__ import annotations

import contextlib
import inspect
import threading
from typing import TYPE_CHECKING, Any, Callable, Iterator, Sequence, TypeVar

import tensorflow as tf
from tensorflow.core.framework import attr_value_pb2
from tensorflow.core.protobuf import config_pb2
from tensorflow.python.data.ops import dataset_ops
from tensorflow.python.distribute import device_util
from tensorflow.python.eager import context, def_function
from tensorflow.python.framework import auto_control_deps, func_graph, ops, tensor_spec, tensor_util
from tensorflow.python.ops import control_flow_util_v2 as control_flow
from tensorflow.python.ops import variable_scope

from tpudist.errors import TpudistError
from tpudist.tfcompat import made_ops, nests, versions

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import (
        DataIterator,
        Fn,
        FunctionGraph,
        Graph,
        Nest,
        Operation,
        Tensor,
        TracedFunction,
    )


if versions.AUTOGRAPH_HIDES_ERRORS:
    TpudistError.ag_pass_through = True  # type: ignore[attr-defined]

if versions.RUN_CONVERTS:
    from tensorflow.python.autograph.core import ag_ctx
    from tensorflow.python.autograph.impl import api as autograph
    from tensorflow.python.util import tf_stack

if versions.CONCRETE_FUNCTION_HAS_MODULE:
    from tensorflow.python.eager.polymorphic_function.concrete_function import ConcreteFunction
else:
    from tensorflow.python.eager import function as _function

    ConcreteFunction = _function.ConcreteFunction if versions.HAS_FUNCTION else _function.Function

if versions.HANDLE_DATA_HAS_MODULE:
    from tensorflow.python.ops.handle_data_util import copy_handle_data
else:
    from tensorflow.python.ops.custom_gradient import copy_handle_data

DatasetV2 = dataset_ops.DatasetV2
TensorSpec = tensor_spec.TensorSpec
FuncGraph = func_graph.FuncGraph
Function = def_function.Function if versions.HAS_FUNCTION else def_function.PolymorphicFunction
_BRANCHES_AND_LOOPS = (
    control_flow.CondBranchFuncGraph,
    control_flow.WhileCondFuncGraph,
    control_flow.WhileBodyFuncGraph,
)
#: The value of a constant tensor, else None.
static_value = tensor_util.constant_value
#: Context manager: sets the eager context's device only; the graph's device stack is untouched.
eager_device = context.device
AutomaticControlDependencies = auto_control_deps.AutomaticControlDependencies
Method = TypeVar("Method", bound=Callable[..., Any])
Part = TypeVar("Part", bound=type)
_NOINLINE = {"_noinline": attr_value_pb2.AttrValue(b=True)}


def is_function(fn: object) -> bool:
    """Whether `fn` is what ``tf.function`` returns."""
    return isinstance(fn, Function)


def python_function(fn: Any) -> Fn:
    """The function that `fn` is a ``tf.function`` of, else `fn`."""
    return fn.python_function if is_function(fn) else fn


def is_traceable(fn: Callable[..., Any]) -> bool:
    """Whether `fn` runs as a traced function when called eagerly."""
    return isinstance(fn, (Function, ConcreteFunction)) or is_function(
        getattr(fn, "__call__", None)  # noqa: B004 (a tf.function as a method)
    )


def in_function() -> bool:
    """Whether a ``tf.function`` is being traced."""
    return ops.get_default_graph().building_function


def eager_by_default() -> bool:
    """Whether a program runs eagerly outside of graphs; asking makes no eager context on 1.13."""
    return context.default_execution_mode == context.EAGER_MODE


def turn_second_generation_on() -> bool:
    """Turns TensorFlow 2's behaviour on, on TensorFlow 1; False if it has been used before."""
    if eager_by_default():
        return True
    v1 = tf.compat.v1
    if v1.get_default_graph().get_operations():
        return False
    try:
        v1.reset_default_graph()  # Where there is one, functions are in it.
        v1.enable_v2_behavior()
    except (AssertionError, ValueError):  # inside of a graph; eager execution is used otherwise
        return False
    with FuncGraph("probe").as_default(), tf.init_scope():
        is_on: bool = tf.executing_eagerly()
    if not is_on:  # Functions would not notice.
        v1.disable_v2_behavior()
    return is_on


def in_session_graph() -> bool:
    """Whether ops are being added to a graph that a Session will run."""
    return not tf.executing_eagerly() and not in_function()


def part_of(name: str) -> Callable[[Part], Part]:
    """Class decorator: gives methods the qualified names of class `name`, which errors show."""

    def named(part: Part) -> Part:
        for each, member in vars(part).items():
            if inspect.isfunction(member):
                member.__qualname__ = "%s.%s" % (name, each)
        return part

    return named


def library(method: Method) -> Method:
    """Keeps AutoGraph from converting `method`, our own code, but not the user's that it calls."""
    method.autograph_info__ = {}  # type: ignore[attr-defined]
    return method


def clone(function: Any, python_function: Callable[..., Any]) -> Any:
    """`function` (a ``tf.function`` without a signature) with another body, same options."""
    if versions.HAS_FUNCTION_CLONE:
        return function._clone(python_function=python_function)
    return def_function.function(python_function, autograph=function._autograph)


def signature(function: Any) -> Nest:
    """The ``input_signature`` of a ``tf.function``, a tuple; None if it has none."""
    if versions.HAS_FUNCTION_CLONE:
        return function.input_signature
    return function._function_spec.input_signature


def convert(fn: Callable[..., Any]) -> Fn:
    """`fn` converted by AutoGraph if the calling code is being converted."""
    if not versions.RUN_CONVERTS:
        return fn
    return autograph.tf_convert(fn, ag_ctx.control_status_ctx())


def do_not_convert(fn: Callable[..., Any]) -> Fn:
    """`fn`, shielded from AutoGraph."""
    return autograph.do_not_convert(fn) if versions.RUN_CONVERTS else fn


@contextlib.contextmanager
def unconverted() -> Iterator[Any]:
    """Context manager: shields functions called inside from AutoGraph."""
    if not versions.RUN_CONVERTS:
        yield
        return
    with ag_ctx.ControlStatusCtx(status=ag_ctx.Status.DISABLED):
        yield


def source_lines() -> list[Any]:
    """This thread's maps from lines of AutoGraph's files to the user's lines."""
    thread = threading.get_ident()
    return list(tf_stack._source_mapper_stacks[thread]) if versions.RUN_CONVERTS else []


@contextlib.contextmanager
def source_lines_as(lines: list[Any]) -> Iterator[None]:
    """Context manager: this thread knows what another one's :func:`source_lines` were."""
    stacks: Any = tf_stack._source_mapper_stacks if versions.RUN_CONVERTS else {}
    thread = threading.get_ident()
    before, stacks[thread] = stacks.get(thread), list(lines)
    try:
        yield
    finally:
        stacks.pop(thread)
        if before is not None:
            stacks[thread] = before


def current_device() -> str:
    """The full name of the current device; ``""`` if there is none."""
    return device_util.current() or ""


def host_of(device: str) -> str:
    """The CPU of the host that a device belongs to."""
    spec = tf.DeviceSpec.from_string(device)
    return tf.DeviceSpec(
        job=spec.job, replica=spec.replica, task=spec.task, device_type="CPU", device_index=0
    ).to_string()


def initializable_iterator(dataset: Any, shared_name: str | None) -> DataIterator:
    """An iterator of a ``tf.data.Dataset`` that a Session initialises."""
    if versions.HAS_INPUT_LIB:
        return tf.compat.v1.data.make_initializable_iterator(dataset, shared_name)
    return dataset.make_initializable_iterator(shared_name)


def control_flow_context() -> object:
    """The branch or loop of TensorFlow 1 that ops are being added to, or None."""
    return ops.get_default_graph()._get_control_flow_context()


def variable_names() -> dict[str, int]:
    """{scope: count}: how ``tf.get_variable`` and layers number names."""
    return dict(variable_scope.get_variable_scope_store().variable_scopes_count)


@contextlib.contextmanager
def variable_names_as(names: Any) -> Iterator[Any]:
    """Context manager: names are counted from `names` inside, and as before afterwards."""
    store = variable_scope.get_variable_scope_store()
    before, store.variable_scopes_count = store.variable_scopes_count, dict(names)
    try:
        yield
    finally:
        store.variable_scopes_count = before


def placeholder_like(tensor: Tensor, shape: object = None) -> Tensor:
    """A placeholder in the current graph for values like `tensor`."""
    shape = tensor.shape if shape is None else tf.TensorShape(shape)
    made = made_ops.placeholder(tensor.dtype, shape)
    if tensor.dtype in (tf.resource, tf.variant):
        copy_handle_data(tensor, made)
    return made


def copy_op(op: Operation, inputs: Sequence[Tensor], changed: Any = None) -> Operation:
    """A copy of `op` in the current graph, with other inputs, and attributes that are `changed`."""
    attributes = {**op.node_def.attr, **(changed or {})}
    for name in ("_class", "_output_shapes"):  # the shapes of the outputs follow
        attributes.pop(name, None)
    dtypes = [tensor.dtype for tensor in op.outputs]
    name = op.name.split("/")[-1].lstrip("_") or op.type
    made = made_ops.add(op.type, list(inputs), dtypes, name, attributes, made_ops.op_def(op))
    if any(_has_function(value) for value in attributes.values()):
        made_ops.wait(made)
    made_ops.copied(op, made)
    return made


def calls_functions(op: Operation) -> bool:
    """Whether `op` calls functions of its graph: by an attribute, or by its type (a ``Defun``)."""
    return op.graph._is_function(op.type) or any(map(_has_function, op.node_def.attr.values()))


def _has_function(attribute: Any) -> bool:
    return attribute.HasField("func") or bool(attribute.list.func)


def is_stateful(op: Operation) -> bool:
    """Whether `op` reads or changes something besides its inputs."""
    return made_ops.op_def(op).is_stateful


def add_library(source: Any, target: Any) -> None:
    """Makes the functions that `source`'s ops call known to `target`."""
    for function in source._functions.values():
        if versions.GRAPHS_ADD_FUNCTIONS:
            target._add_function_recursive(function)
        else:
            function.add_to_graph(target)


def in_function_inside(home: Graph) -> bool:
    """Whether a tf.function, not a branch or loop, is being traced that is called in `home`."""
    graph = ops.get_default_graph()
    while isinstance(graph, _BRANCHES_AND_LOOPS):
        graph = graph.outer_graph
    return graph is not home and isinstance(graph, FuncGraph)


def is_branch_or_loop(graph: Graph) -> bool:
    """Whether `graph` is that of a branch, or of a loop's body."""
    return isinstance(graph, _BRANCHES_AND_LOOPS) and not isinstance(
        graph, control_flow.WhileCondFuncGraph
    )


def is_traced(value: object) -> bool:
    """Whether `value` is a tensor of a function graph."""
    graph = None if isinstance(value, ops.EagerTensor) else getattr(value, "graph", None)
    return nests.is_tensor(value) and isinstance(graph, FuncGraph)


def make(graph: FunctionGraph, noinline: bool) -> TracedFunction:
    """A TensorFlow function of a FuncGraph; with `noinline` all calls share one optimised body."""
    attributes = dict(_NOINLINE) if noinline else {}
    graph.structured_outputs = list(graph.outputs)
    if versions.CONCRETE_FUNCTION_HAS_MODULE:
        return ConcreteFunction.from_func_graph(graph, None, attributes)
    made = ConcreteFunction(graph, attributes)
    if versions.CAPTURES_ARE_A_DICT:
        made._captured_inputs = []  # `call` is given them with the inputs
    return made


def captures(graph: Any) -> list[tuple[Any, Any]]:
    """[(outer tensor, placeholder)] of what `graph` captured, in order."""
    if versions.CAPTURES_ARE_A_DICT:
        return list(graph.captures.items())
    return list(graph.captures)


def captured(tensor: Tensor) -> Tensor:
    """The tensor outside of all functions whose capture is `tensor`."""
    while isinstance(getattr(tensor, "graph", None), FuncGraph):
        outer = [external for external, held in captures(tensor.graph) if held is tensor]
        if not outer:
            return tensor
        tensor = outer[0]
    return tensor


def capture(graph: Graph, tensor: Tensor) -> Tensor:
    """The placeholder in `graph` that captures `tensor`."""
    return graph.capture(tensor) if isinstance(graph, FuncGraph) else tensor


def is_resource(tensor: Tensor) -> bool:
    """Whether `tensor` is the handle of a variable, table or queue."""
    return tensor.dtype == tf.resource


def call_flat(function: Any, inputs: Sequence[Tensor]) -> Sequence[Tensor]:
    """Calls what :func:`make` returned; a list of tensors, or None."""
    if versions.CAPTURES_ARE_A_DICT:
        return function._call_flat(inputs)
    return function._call_flat(inputs, [])


def call(function: object, inputs: Sequence[Tensor], like: Sequence[Tensor]) -> list[Tensor]:
    """Calls what :func:`make` returned in the current graph; results get the shapes of `like`."""
    results = call_flat(function, inputs)
    results = list(results) if results is not None else []
    if results and not isinstance(results[0], ops.EagerTensor):
        made_ops.wait(results[0].op)
    for result, expected in zip(results, like):
        make_like(result, expected)
    return results


def make_like(tensor: Tensor, expected: Tensor) -> None:
    """Gives `tensor` the static shape of `expected`, or what is known of its handle."""
    if expected.dtype in (tf.resource, tf.variant):
        copy_handle_data(expected, tensor)
    else:
        tensor.set_shape(expected.shape)


def with_shape(tensor: Tensor, shape: Any) -> Tensor:
    """`tensor` with a static shape that may say less than its own, as loops need it."""
    if tensor.dtype in (tf.resource, tf.variant) or shape.is_fully_defined():
        return tensor
    return tf.compat.v1.placeholder_with_default(tensor, shape)


@contextlib.contextmanager
def unoptimised() -> Iterator[Any]:
    """Context manager: functions called inside run their ops one by one, and are not optimised."""
    with context.function_executor_type("SINGLE_THREADED_EXECUTOR"):
        if versions.FUNCTION_OPTIONS_ARE_KEPT:
            options = context.context().function_call_options  # restored with the executor
            config = config_pb2.ConfigProto.FromString(options.config_proto_serialized)
            config.graph_options.rewrite_options.disable_meta_optimizer = True
            options.config_proto_serialized = config
        yield


def is_in_a_graph_of_keras() -> bool:
    """Whether Keras builds the current graph to learn shapes, and never runs it."""
    graph = ops.get_default_graph()
    while isinstance(graph, FuncGraph):
        if graph.name == "keras_graph" or "scratch_graph" in graph.name:
            return True
        graph = graph.outer_graph
    return False


def are_inlined() -> bool:
    """Whether tf.functions run as the Python functions that they are of."""
    if not versions.FUNCTIONS_CAN_BE_INLINED:
        return False
    if versions.HAS_FUNCTION_CLONE:
        return bool(def_function.functions_run_eagerly())
    return bool(def_function.RUN_FUNCTIONS_EAGERLY)


@contextlib.contextmanager
def inlined() -> Iterator[None]:
    """Context manager: traces nested tf.functions as parts of the graph that calls them (r1.15)."""
    before = are_inlined()
    def_function.run_functions_eagerly(True)
    try:
        yield
    finally:
        def_function.run_functions_eagerly(before)
