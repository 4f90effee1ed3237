"""Rewrites the graph of an old step so that XLA for the CPU can lower it.

The TPU's own ops for the sum over replicas and the replica's id become ops that
every build has kernels for.
"""

import tensorflow as tf

from tpudist.tools.compile.lowering import symbolic_collectives

#: Attributes that place ops on a TPU, or that only their release understands.
_PLACING = (
    "_tpu_replicate",
    "_xla_compile_id",
    "_class",
    "_output_shapes",
    "_xla_outside_compilation",
    "_tpu_input_identity",
    "_tpu_output_identity",
)

#: Inputs of a collective besides its value.
_BESIDES = ("group_size", "group_key", "instance_key")

#: The output's name of a sum in a function, before and after.
_OLD, _NEW = ":output:", ":data:"


def adapt(definition, replicas, without):
    """Rewrites a ``GraphDef`` in place.

    Args:
      definition: the graph and the functions that it calls.
      replicas: number of replicas.
      without: names of the nodes that stand for the step's inputs; they are
        taken out.
    """
    keys = iter(range(1, 1 << 30))
    gone = set(without)
    nodes = [node for node in definition.node if node.name not in gone]
    for node in nodes:
        kept = [name for name in node.input if not (name.startswith("^") and name[1:] in gone)]
        del node.input[:]
        node.input.extend(kept)
    made = _adapted(nodes, replicas, keys, "")
    del definition.node[:]
    definition.node.extend(made)
    for function in definition.library.function:
        _adapt_function(function, replicas, keys)


def _adapt_function(function, replicas, keys):
    sums = {node.name for node in function.node_def if node.op == "CrossReplicaSum"}
    made = _adapted(list(function.node_def), replicas, keys, _OLD + "0")

    def renamed(name):
        return name.replace(_OLD, _NEW) if name.split(":")[0] in sums else name

    for node in made:
        inputs = [renamed(name) for name in node.input]
        del node.input[:]
        node.input.extend(inputs)
    for name in list(function.ret):
        function.ret[name] = renamed(function.ret[name])
    del function.node_def[:]
    function.node_def.extend(made)


def _adapted(nodes, replicas, keys, output):
    """The rewritten nodes; `output` is the suffix that names a constant's output."""
    made = []
    for node in nodes:
        node.device = ""
        for name in _PLACING:
            if name in node.attr:
                del node.attr[name]
        if node.op == "CrossReplicaSum":
            made += _constants(node, replicas, next(keys))
            _become_collective(node, output)
        elif node.op == "Const" and (
            node.name.split("/")[-1].startswith(symbolic_collectives.REPLICA_ID)
        ):
            node.op = "XlaReplicaId"
            node.ClearField("attr")
        made.append(node)
    return made


def _constants(node, replicas, key):
    """The inputs of a collective besides its value."""
    made = []
    for name, value in zip(_BESIDES, (replicas, 1, key)):
        constant = tf.compat.v1.NodeDef(name="%s/%s" % (node.name, name), op="Const")
        constant.attr["dtype"].type = tf.int32.as_datatype_enum
        constant.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(value, tf.int32))
        made.append(constant)
    return made


def _become_collective(node, output):
    kind = node.attr["T"].type
    controls = [name for name in node.input if name.startswith("^")]
    inputs = (
        [node.input[0]] + ["%s/%s%s" % (node.name, name, output) for name in _BESIDES] + controls
    )
    node.op = "CollectiveReduceV2"
    node.ClearField("attr")
    del node.input[:]
    node.input.extend(inputs)
    node.attr["T"].type = kind
    node.attr["merge_op"].s = b"Add"
    node.attr["final_op"].s = b"Id"
