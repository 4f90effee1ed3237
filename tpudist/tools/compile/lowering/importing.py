"""A step that another release of TensorFlow traced, to be lowered by this one."""

import base64

import tensorflow as tf

from tpudist.tfcompat import functions
from tpudist.tools.compile.lowering import graph_ops, handles, rewriting, tracing


def step(message):
    """The step of a message, as if it had been traced here.

    Context: eager.

    Args:
      message: what :func:`tpudist.tools.compile.lowering.exporting.message` returned,
        possibly read back from JSON.

    Returns:
      A `tracing.Step`.
    """
    definition = tf.compat.v1.GraphDef.FromString(base64.b64decode(message["graph"]))
    rewriting.adapt(
        definition,
        message["replicas"],
        [entry["tensor"].split(":")[0] for entry in message["inputs"]],
    )
    graph = functions.FuncGraph("replica_step")
    with graph.as_default():
        with tf.name_scope("inputs_of_step"):
            held = [_placeholder(entry) for entry in message["inputs"]]
        given = dict(zip((entry["tensor"] for entry in message["inputs"]), held))
        used = {name.split(":")[0] for node in definition.node for name in node.input}
        mapped = {name: each for name, each in given.items() if name.split(":")[0] in used}
        tf.import_graph_def(definition, name="", input_map=mapped)
        outputs = [
            (
                name,
                tf.identity(given[tensor] if tensor in given else graph.get_tensor_by_name(tensor)),
            )
            for name, tensor in message["outputs"]
        ]
    graph.inputs = list(held)
    graph.outputs = [tensor for _, tensor in outputs]
    graph.control_outputs = [graph.get_operation_by_name(name) for name in message["control"]]
    graph_ops.locate(graph, message["places"])
    inputs = [
        (entry["name"], tensor, None if entry["argument"] else tensor)
        for entry, tensor in zip(message["inputs"], held)
    ]
    return tracing.Step(graph, inputs, outputs, message["replicas"], message["partitions"])


def _placeholder(entry):
    dtype = tf.as_dtype(entry["dtype"])
    if not entry["variable"]:
        return tf.compat.v1.placeholder(dtype, entry["shape"])
    with tf.init_scope():
        variable = handles.stand_in_variable(entry["shape"], dtype)
    return functions.placeholder_like(variable.handle)
