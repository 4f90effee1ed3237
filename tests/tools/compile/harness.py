"""Lowers steps, and reads their HLO."""

import pathlib

import pytest
from tensorflow.compiler.xla.service import hlo_pb2

from tpudist.contrib import tensorflow as contrib_tf
from tpudist.errors import CompileError
from tpudist.tfcompat import versions
from tpudist.tools.compile.lowering import to_hlo, tracing
from tpudist.v2_0 import tensorflow as v2_0_tf
from tpudist.v2_2 import tensorflow as v2_2_tf

#: Marks tests that lower with this TensorFlow.
lowers_here = pytest.mark.skipif(
    not versions.LOWERS_TO_HLO, reason="TensorFlow before 2.12 gives no HLO for shapes alone"
)


def strategy(cores=8, assignment=None):
    """A strategy of the last era on a virtual TPU of that many cores."""
    resolver = v2_2_tf.distribute.cluster_resolver.TPUClusterResolver(tpu="virtual:%d" % cores)
    return v2_2_tf.distribute.experimental.TPUStrategy(resolver, assignment)


def strategies():
    """{era: strategy} of 8 replicas, one of each era."""
    return {
        "contrib": contrib_tf.contrib.distribute.TPUStrategy(
            contrib_tf.contrib.cluster_resolver.TPUClusterResolver("virtual:8")
        ),
        "2.0": v2_0_tf.distribute.experimental.TPUStrategy(
            v2_0_tf.distribute.cluster_resolver.TPUClusterResolver(tpu="virtual:8")
        ),
        "2.2": strategy(),
    }


def logical(replicas, devices):
    """A strategy whose replicas have several logical devices each."""
    resolver = v2_2_tf.distribute.cluster_resolver.TPUClusterResolver(
        tpu="virtual:%d" % (replicas * devices)
    )
    topology = v2_2_tf.tpu.experimental.initialize_tpu_system(resolver)
    return v2_2_tf.distribute.experimental.TPUStrategy(
        resolver,
        v2_2_tf.tpu.experimental.DeviceAssignment.build(
            topology, computation_shape=[1, devices // 2, 1, 2], num_replicas=replicas
        ),
    )


def lower(strategy, fn, *args, **kwargs):
    """Lowers a replica function to its program."""
    to_hlo.require()
    return to_hlo.lower(tracing.trace(strategy, fn, args, kwargs))


def refusal(strategy, fn, *args, **kwargs):
    """The `CompileError` that lowering a replica function raises."""
    with pytest.raises(CompileError) as caught:
        lower(strategy, fn, *args, **kwargs)
    return caught.value


def line(file, mark):
    """ "file.py:line: " of the first line of a file that ends in a comment."""
    path = pathlib.Path(file)
    lines = path.read_text("utf-8").splitlines()
    return "%s:%d: " % (path.name, 1 + [each.endswith("# " + mark) for each in lines].index(True))


def module(program):
    """Its ``HloModuleProto``."""
    return hlo_pb2.HloModuleProto.FromString(program.hlo)


def updated(program):
    """The names of the parameters whose variables it updates."""
    aliases = module(program).input_output_alias.entries
    return [program.parameters[each.parameter_number].name for each in aliases]


def results(program):
    """The shapes of what it returns, beside the variables that it updates."""
    found = module(program)
    entry = next(each for each in found.computations if each.id == found.entry_computation_id)
    root = next(each for each in entry.instructions if each.id == entry.root_id).shape
    updated_ = {tuple(each.output_shape_index) for each in found.input_output_alias.entries}
    return [
        tuple(each.dimensions)
        for index, each in enumerate(root.tuple_shapes or [root])
        if (index,) not in updated_
    ]


def opcodes(program):
    """The opcodes of all instructions, in order."""
    return [
        instruction.opcode
        for computation in module(program).computations
        for instruction in computation.instructions
    ]


def skeleton(program):
    """Returns the HLO without names, ids and metadata.

    Operands and called computations are positions: two programs with the same
    skeleton are the same up to names.
    """
    found = module(program)
    position = {computation.id: i for i, computation in enumerate(found.computations)}
    return [
        [_plain(instruction, computation, position) for instruction in computation.instructions]
        for computation in found.computations
    ]


def _plain(instruction, computation, position):
    place = {each.id: i for i, each in enumerate(computation.instructions)}
    made = hlo_pb2.HloInstructionProto()
    made.CopyFrom(instruction)
    operands = [place[each] for each in made.operand_ids]
    called = [position[each] for each in made.called_computation_ids]
    for field in (
        "name",
        "id",
        "metadata",
        "operand_ids",
        "channel_id",
        "called_computation_ids",
        "control_predecessor_ids",
    ):
        made.ClearField(field)
    return made.SerializeToString(deterministic=True), operands, called
