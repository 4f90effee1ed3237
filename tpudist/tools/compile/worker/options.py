"""CompileOptionsProto, written by hand: the worker has no protobuf.

Field numbers: ``xla/pjrt/proto/compile_options.proto`` and
``xla/xla_data.proto`` in OpenXLA.
"""

#: Fields of CompileOptionsProto, ExecutableBuildOptionsProto,
#: DeviceAssignmentProto and its ComputationDevice.
_BUILD_OPTIONS = 3
_DEVICE_ORDINAL, _REPLICAS, _PARTITIONS, _SPMD, _ASSIGNMENT, _LEVEL = 1, 4, 5, 6, 9, 24
_REPLICA_COUNT, _COMPUTATION_COUNT, _COMPUTATION_DEVICES = 1, 2, 3
_REPLICA_DEVICES = 1


def compile_options(replicas, partitions, devices, level=0):
    """The options of one compilation.

    Args:
      replicas: how many run the program.
      partitions: logical devices of each; SPMD if there are several.
      devices: ids, all logical devices of the first replica first.
      level: of optimization; 0 is the compiler's own choice.

    Returns:
      bytes.
    """
    assignment = _integer(_REPLICA_COUNT, replicas) + _integer(_COMPUTATION_COUNT, partitions)
    for partition in range(partitions):
        ids = devices[partition : replicas * partitions : partitions]
        assignment += _message(
            _COMPUTATION_DEVICES, _message(_REPLICA_DEVICES, b"".join(map(_varint, ids)))
        )
    build = (
        _integer(_DEVICE_ORDINAL, -1)
        + _integer(_REPLICAS, replicas)
        + _integer(_PARTITIONS, partitions)
        + _integer(_SPMD, partitions > 1)
        + _message(_ASSIGNMENT, assignment)
        + _integer(_LEVEL, level)
    )
    return _message(_BUILD_OPTIONS, build)


def _varint(number):
    number &= (1 << 64) - 1
    made = bytearray()
    while number > 0x7F:
        made.append(number & 0x7F | 0x80)
        number >>= 7
    made.append(number)
    return bytes(made)


def _integer(field, number):
    return _varint(field << 3) + _varint(int(number))


def _message(field, content):
    return _varint(field << 3 | 2) + _varint(len(content)) + content
