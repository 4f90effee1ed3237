"""Writes a traced step as a message, which another release of TensorFlow reads and lowers.

TensorFlow before 2.5 cannot lower to HLO, but a newer one can read its graphs. The other
environment needs TensorFlow 2.5 or newer and what comes with it; it loads the tpudist of
this environment. There the step is lowered with XLA for the CPU, so the TPU's own ops for
the sum over replicas and the replica's id become ops that every build has kernels for.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
import tempfile
from typing import Any, Iterable, Iterator, Sequence

import tensorflow as tf

import tpudist
from tpudist.errors import CompileError
from tpudist.tfcompat import functions, graphs, versions
from tpudist.tools.compile import program
from tpudist.tools.compile.lowering import graph_ops, symbolic_replicas, to_hlo, tracing
from tpudist.virtual.trace import all_ops

#: Version of the message.
FORMAT = 1

#: Attributes that place ops on a TPU, or that only their own release understands.
_REMOVED_ATTRIBUTES = (
    "_tpu_replicate",
    "_xla_compile_id",
    "_class",
    "_output_shapes",
    "_xla_outside_compilation",
    "_tpu_input_identity",
    "_tpu_output_identity",
)

#: Inputs of a collective behind its value.
_COLLECTIVE_INPUTS = ("group_size", "group_key", "instance_key")

#: The name of a sum's output in a function: of the TPU's op, and of the collective.
_OLD_OUTPUT, _NEW_OUTPUT = ":output:", ":data:"

#: Loads this tpudist, but not what else is installed beside it.
_START = """
import importlib.util, sys
folder, source, target = sys.argv[1:]
spec = importlib.util.spec_from_file_location(
    "tpudist", folder + "/__init__.py", submodule_search_locations=[folder])
sys.modules["tpudist"] = module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
from tpudist.tools.compile.lowering import step_message
step_message.answer(source, target)
"""

#: How many characters of the other Python's output are shown if it fails.
_TAIL = 2000


def message(step: tracing.Step) -> dict[str, Any]:
    """Writes a traced step as a dict of JSON types, which :func:`step` reads.

    Raises:
      CompileError: it uses a resource that is no variable.
    """
    graph = step.graph
    return message_of_ops(
        step,
        graph.as_graph_def(),
        [_input(each) for each in step.inputs],
        [op.name for op in getattr(graph, "control_outputs", ())],
    )


def message_of_ops(
    step: tracing.Step,
    definition: Any,
    inputs: list[dict[str, Any]],
    control: list[str],
    among: Iterable[tf.Operation] | None = None,
) -> dict[str, Any]:
    """Writes a step that is a part of its graph, as :func:`message`.

    Args:
      definition: the ``GraphDef`` of the step alone.
      inputs: as :func:`input_entry` returns them.
      control: names of the ops that run even if no output needs them.
      among: the ops of the step; None for all of its graph.
    """
    return {
        "format": FORMAT,
        "tensorflow": str(versions.TF),
        "graph": base64.b64encode(definition.SerializeToString()).decode(),
        "inputs": inputs,
        "control": control,
        "outputs": [[name, tensor.name] for name, tensor in step.outputs],
        "replicas": step.replicas,
        "partitions": step.partitions,
        "places": _locations(step.graph, among),
        "collectives": list(map(list, graph_ops.collectives(step.graph, among))),
        "shardings": list(map(list, graph_ops.shardings(step, among))),
    }


def _locations(graph: tf.Graph, among: Iterable[tf.Operation] | None) -> dict[str, str]:
    """Returns {path of an op: "file:line" of the user's code}."""
    locations: dict[str, str] = {}
    for path, op in all_ops.ops(graph, among):
        locations.setdefault(path, graph_ops.location(graph, path, op))
    return {path: line for path, line in locations.items() if line}


def input_entry(
    name: str,
    tensor: tf.Tensor,
    argument: bool,
    shape: tf.TensorShape,
    dtype: tf.DType,
    location: str = "",
) -> dict[str, Any]:
    """Returns one input of a message.

    Args:
      name: of the argument or variable, "" if unknown.
      tensor: the tensor in the graph that stands for it.
      argument: whether it is an argument of the step.
      shape, dtype: of the tensor, or of the variable's value.
      location: "file:line" that created a variable.

    Raises:
      CompileError: the shape is unknown.
    """
    name = name or tensor.op.name
    if shape is None or not shape.is_fully_defined():
        raise CompileError(
            "the step uses %s of shape %s" % (name, shape),
            "a TPU program can use variables and tensors of a known shape only",
            "pass what it gives as an argument, or create the variable with a shape",
        )
    return {
        "name": name,
        "tensor": tensor.name,
        "argument": argument,
        "variable": tensor.dtype == tf.resource,
        "dtype": dtype.base_dtype.name,
        "shape": shape.as_list(),
        "location": location,
    }


def _input(entry: tracing.Input) -> dict[str, Any]:
    name, placeholder, outer = entry
    shape, dtype, location = placeholder.shape, placeholder.dtype, ""
    if dtype == tf.resource:
        shape, dtype = graphs.stored_in(placeholder)
        location = graph_ops.creation_line(outer)
    return input_entry(name, placeholder, outer is None, shape, dtype, location)


def step(message: dict[str, Any]) -> tracing.Step:
    """Reads the step of a message, also of a copy through JSON, as if it had been traced here.

    Context: eager.
    """
    definition = tf.compat.v1.GraphDef.FromString(base64.b64decode(message["graph"]))
    _rewrite(
        definition,
        message["replicas"],
        [entry["tensor"].split(":")[0] for entry in message["inputs"]],
    )
    graph = functions.FuncGraph("replica_step")
    with graph.as_default():
        with tf.name_scope("inputs_of_step"):
            placeholders = [_placeholder(entry) for entry in message["inputs"]]
        by_name = dict(zip((entry["tensor"] for entry in message["inputs"]), placeholders))
        used = {name.split(":")[0] for node in definition.node for name in node.input}
        mapped = {name: each for name, each in by_name.items() if name.split(":")[0] in used}
        tf.import_graph_def(definition, name="", input_map=mapped)
        outputs = [
            (
                name,
                tf.identity(
                    by_name[tensor] if tensor in by_name else graph.get_tensor_by_name(tensor)
                ),
            )
            for name, tensor in message["outputs"]
        ]
    graph.inputs = list(placeholders)
    graph.outputs = [tensor for _, tensor in outputs]
    graph.control_outputs = [graph.get_operation_by_name(name) for name in message["control"]]
    graph_ops.set_locations(graph, message["places"])
    inputs = [
        tracing.Input(entry["name"], tensor, None if entry["argument"] else tensor)
        for entry, tensor in zip(message["inputs"], placeholders)
    ]
    return tracing.Step(graph, inputs, outputs, message["replicas"], message["partitions"])


def _placeholder(entry: dict[str, Any]) -> tf.Tensor:
    dtype = tf.as_dtype(entry["dtype"])
    if not entry["variable"]:
        return tf.compat.v1.placeholder(dtype, entry["shape"])
    with tf.init_scope():
        variable = to_hlo.stand_in_variable(entry["shape"], dtype)
    return functions.placeholder_like(variable.handle)


def _rewrite(definition: Any, replicas: int, removed: Iterable[str]) -> None:
    """Rewrites a ``GraphDef`` and its functions in place, so that XLA for the CPU can lower it.

    Args:
      removed: names of the nodes that stand for the step's inputs.
    """
    keys = iter(range(1, 1 << 30))
    removed = set(removed)
    nodes = [node for node in definition.node if node.name not in removed]
    for node in nodes:
        _set_inputs(
            node,
            [name for name in node.input if not (name.startswith("^") and name[1:] in removed)],
        )
    rewritten = _rewritten(nodes, replicas, keys, "")
    del definition.node[:]
    definition.node.extend(rewritten)
    for function in definition.library.function:
        _rewrite_function(function, replicas, keys)


def _rewrite_function(function: Any, replicas: int, keys: Iterator[int]) -> None:
    sums = {node.name for node in function.node_def if node.op == "CrossReplicaSum"}
    nodes = _rewritten(list(function.node_def), replicas, keys, _OLD_OUTPUT + "0")

    def renamed(name: str) -> str:
        return name.replace(_OLD_OUTPUT, _NEW_OUTPUT) if name.split(":")[0] in sums else name

    for node in nodes:
        _set_inputs(node, [renamed(name) for name in node.input])
    for name in list(function.ret):
        function.ret[name] = renamed(function.ret[name])
    del function.node_def[:]
    function.node_def.extend(nodes)


def _set_inputs(node: Any, inputs: Sequence[str]) -> None:
    del node.input[:]
    node.input.extend(inputs)


def _rewritten(nodes: Iterable[Any], replicas: int, keys: Iterator[int], suffix: str) -> list[Any]:
    """Rewrites nodes in place; returns them with the constants that they need.

    Args:
      keys: a key for each collective.
      suffix: of the name of a constant's output.
    """
    rewritten = []
    for node in nodes:
        node.device = ""
        for name in _REMOVED_ATTRIBUTES:
            if name in node.attr:
                del node.attr[name]
        if node.op == "CrossReplicaSum":
            rewritten += _constants(node, replicas, next(keys))
            _make_collective(node, suffix)
        elif node.op == "Const" and (
            node.name.split("/")[-1].startswith(symbolic_replicas.REPLICA_ID)
        ):
            node.op = "XlaReplicaId"
            node.ClearField("attr")
        rewritten.append(node)
    return rewritten


def _constants(node: Any, replicas: int, key: int) -> list[Any]:
    """Returns nodes for the inputs of a collective behind its value."""
    constants = []
    for name, value in zip(_COLLECTIVE_INPUTS, (replicas, 1, key)):
        constant = tf.compat.v1.NodeDef(name="%s/%s" % (node.name, name), op="Const")
        constant.attr["dtype"].type = tf.int32.as_datatype_enum
        constant.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(value, tf.int32))
        constants.append(constant)
    return constants


def _make_collective(node: Any, suffix: str) -> None:
    """Turns a CrossReplicaSum into a CollectiveReduceV2, in place."""
    kind = node.attr["T"].type
    controls = [name for name in node.input if name.startswith("^")]
    constants = ["%s/%s%s" % (node.name, name, suffix) for name in _COLLECTIVE_INPUTS]
    _set_inputs(node, [node.input[0]] + constants + controls)
    node.op = "CollectiveReduceV2"
    node.ClearField("attr")
    node.attr["T"].type = kind
    node.attr["merge_op"].s = b"Add"
    node.attr["final_op"].s = b"Id"


def lower(message: dict[str, Any], python: str | None = None) -> program.Program:
    """Lowers the step of a message with the Python of another environment; with this one if None.

    Raises:
      CompileError: the step cannot be lowered, or there is no such Python, or its TensorFlow
        is too old.
    """
    lowered = _lowered_here(message) if python is None else _lowered_by(python, message)
    lines = {each["name"]: each["location"] for each in message["inputs"]}
    return lowered._replace(
        parameters=tuple(
            each._replace(location=lines.get(each.name, "")) for each in lowered.parameters
        ),
        collectives=program.records(program.Collective, message["collectives"]),
        shardings=program.records(program.Sharding, message["shardings"]),
        tensorflow="%s, traced by %s" % (lowered.tensorflow, message["tensorflow"]),
    )


def _lowered_by(python: str, message: dict[str, Any]) -> program.Program:
    """Lowers the step of a message with the Python of another environment."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = [os.path.join(folder, name) for name in ("step.json", "program.json")]
        with open(source, "w") as file:
            json.dump(message, file)
        output = _run_python(python, source, target)
        if not os.path.exists(target):
            raise CompileError(
                "--lower-with %s" % python,
                "it could not lower the step: %s" % output[-_TAIL:].strip(),
                "the Python of an environment with TensorFlow 2.5 or newer, numpy and packaging",
            )
        with open(target) as file:
            result = json.load(file)
    if "error" in result:
        seen, why, instead = result["error"]
        raise CompileError(seen, why, instead)
    return program.from_json(result)


def _run_python(python: str, source: str, target: str) -> str:
    """Runs :func:`answer` in the other environment; returns what that printed."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in ("PYTHONPATH", "PYTHONHOME")
    }
    try:
        done = subprocess.run(
            [python, "-c", _START, os.path.dirname(tpudist.__file__), source, target],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            universal_newlines=True,
        )
    except OSError as error:
        raise CompileError(
            "--lower-with %s" % python, str(error), "the path of a Python, such as .venv/bin/python"
        ) from error
    return done.stdout


def answer(source: str, target: str) -> None:
    """Lowers the step in a file of JSON, and writes the program, or the error, to another one.

    Runs in the other environment.
    """
    with open(source) as file:
        message = json.load(file)
    try:
        result = _lowered_here(message).to_json()
    except CompileError as error:
        result = {"error": [error.seen, error.why, error.instead]}
    with open(target, "w") as file:
        json.dump(result, file)


def _lowered_here(message: dict[str, Any]) -> program.Program:
    """Lowers the step of a message with this environment's TensorFlow."""
    to_hlo.require()
    with graphs.eager():
        return to_hlo.lower(step(message))
