"""Traces one replica's step into a function graph."""

import collections

import numpy as np
import tensorflow as tf

from tpudist.errors import CompileError, TpudistError
from tpudist.tfcompat import distributed, functions, graphs, nests
from tpudist.tools.compile.arguments import Spec
from tpudist.tools.compile.lowering import (
    given_arguments,
    graph_ops,
    symbolic_replicas,
    unsupported,
)
from tpudist.virtual.identity_map import IdentityMap
from tpudist.virtual.trace import function_graphs
from tpudist.virtual.variables import storage

#: A finished graph and what its inputs and outputs are: `inputs` has
#: (name, placeholder, outer tensor or None) and `outputs` (name, tensor).
Step = collections.namedtuple("Step", "graph inputs outputs replicas partitions")

#: A `Step`, what its function returned, and [(value, receive)] of what it handed out (see
#: :mod:`tpudist.virtual.replicas.delivery`).
Traced = collections.namedtuple("Traced", "step results handed_out")


class _StepTrace(function_graphs.LiftingTrace):
    """A step; the values that it hands out are outputs of the program."""

    def __init__(self):
        super().__init__("replica_step")
        self.handed_out = []


def trace(strategy, fn, args=(), kwargs=None):
    """Traces `fn` once, as a real TPU does, for all replicas of `strategy`.

    Context: cross-replica, eager or in a graph. `fn` creates variables where a
    run would create them.

    Args:
      strategy: a strategy on the virtual TPU.
      fn: the replica function, or a ``tf.function`` of it.
      args, kwargs: what one replica gets. Arrays, tensors and ``tf.TensorSpec``
        become parameters of the program, per-replica values by their first
        component; everything else is passed to `fn` as it is.

    Returns:
      A `Step`.

    Raises:
      CompileError: (a RuntimeError) an argument of unknown shape, or what
        `fn` raised.
    """
    return trace_with_results(strategy, fn, args, kwargs).step


def trace_with_results(strategy, fn, args=(), kwargs=None):
    """A `Traced`, which has the tensors of the trace; see :func:`trace`."""
    call = graphs.converted(fn)
    trace_, given = _StepTrace(), []
    with symbolic_replicas.symbolic(
        strategy
    ) as extended, strategy.scope(), graphs.variables_reused():
        with trace_.ordered() as order, graphs.for_xla():
            args, kwargs = _placeholders(fn, args, kwargs or {}, given)
            asked = given_arguments.Call(fn, args, kwargs)
            results = _called(extended, call, asked, trace_.graph)
            outputs = _outputs(results, trace_.handed_out, order)
    graph = trace_.finish([tensor for _, tensor in outputs], [held for _, held, _ in given])
    named = _variables(graph)
    captured = [(_name_of(outer, named), held, outer) for outer, held in functions.captures(graph)]
    step = Step(
        graph,
        given + captured,
        outputs,
        strategy.num_replicas_in_sync,
        extended.placement.logical_devices,
    )
    return Traced(step, results, trace_.handed_out)


def _called(extended, fn, asked, graph):
    try:
        return extended.call_for_each_replica(fn, args=asked.args, kwargs=asked.kwargs)
    except TpudistError:
        raise
    except Exception as error:
        raise unsupported.stopped(graph, error, asked) from error


def _placeholders(fn, args, kwargs, given):
    """The arguments with a placeholder in place of each tensor."""

    def enter(path, leaf):
        if distributed.is_distributed(leaf) and not distributed.is_variable(leaf):
            leaf = distributed.components(leaf)[0]
        if not _is_data(leaf):
            return leaf
        return distributed.pack(
            leaf, [_placeholder(path, part, given) for part in distributed.flatten(leaf)]
        )

    def enter_all(name, value):
        flat = [enter(_joined(name, path), leaf) for path, leaf in _with_paths(value)]
        return nests.pack_sequence_as(value, flat)

    names = given_arguments.names(fn, args)
    return (
        tuple(enter_all(*pair) for pair in zip(names, args)),
        {name: enter_all(name, kwargs[name]) for name in sorted(kwargs)},
    )


def _is_data(leaf):
    if isinstance(leaf, tf.Variable) or distributed.is_variable(leaf):
        return False
    return isinstance(leaf, (np.ndarray, np.generic, functions.TensorSpec, Spec)) or (
        distributed.is_tensor_like(leaf)
    )


def _placeholder(name, value, given):
    if not isinstance(value, (functions.TensorSpec, Spec)) and not nests.is_tensor(value):
        value = np.asarray(value)
    shape = tf.TensorShape(value.shape)
    if not shape.is_fully_defined():
        raise CompileError(
            "argument %s of shape %s" % (name, shape),
            "a TPU program is compiled for one shape",
            "all dimensions of one replica's batch, such as f32[128,28,28,1]; "
            "drop_remainder=True on the dataset's batch",
        )
    held = tf.compat.v1.placeholder(tf.as_dtype(value.dtype), shape)
    given.append((name, held, None))
    return held


def _outputs(results, handed_out, order):
    """[(name, tensor)] of what the step returned and handed out."""
    named = [(_joined("output", path), leaf) for path, leaf in _with_paths(results)]
    named += [
        (_joined("set", path), leaf) for value, _ in handed_out for path, leaf in _with_paths(value)
    ]
    return [
        (name, order.mark_as_return(tf.identity(part)))
        for name, leaf in named
        if _is_result(leaf)
        for part in distributed.flatten(_value(leaf))
    ]


def _is_result(leaf):
    return (
        distributed.is_distributed(leaf)
        or isinstance(leaf, tf.Variable)
        or (distributed.is_tensor_like(leaf))
    )


def _value(leaf):
    leaf = distributed.components(leaf)[0]
    return tf.convert_to_tensor(leaf) if isinstance(leaf, tf.Variable) else leaf


def _with_paths(structure):
    return nests.flatten_with_paths(structure)


def _joined(name, path):
    return name + "/" + path if path else name


def _variables(graph):
    """{handle: variable} for the variables of a graph and its functions."""
    graphs_in = IdentityMap.of([graph] + [op.graph for _, op in graph_ops.ops(graph)])
    return IdentityMap(
        (variable.handle, variable)
        for each in graphs_in
        for variable in list(getattr(each, "variables", ())) + graphs.watched(each)
        if hasattr(variable, "handle")
    )


def _name_of(outer, named):
    """The name of what a trace captured: a variable's, if it is one."""
    variable = storage.of_handle(outer)
    variable = named.get(outer) if variable is None else variable
    if variable is not None:
        return variable.name.split(":")[0]
    return "" if graphs.is_eager(outer) else outer.op.name
