"""Defines protobuf classes for the fields of HLO, and of its compilation, that tpudist uses.

All other fields are kept as they are. TensorFlow's own ``hlo_pb2`` moves between
releases, and is missing where a report is read without TensorFlow; so protobuf, which
TensorFlow brings, makes the classes from the table below. The field numbers are those
of ``xla/service/hlo.proto``, ``xla/xla_data.proto`` and
``xla/pjrt/proto/compile_options.proto`` in OpenXLA, where they never change.

Also computes the sizes of arrays.
"""

from __future__ import annotations

import functools
import operator
from typing import TYPE_CHECKING, Any, Iterable, NamedTuple

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import Message

#: Types of messages in annotations; the classes are made at run time.
HloModule = Any
HloComputation = Any
HloInstruction = Any
HloShape = Any
HloSharding = Any

_PACKAGE = "tpudist.tools.compile.hlo"

#: {message: {field: (number, type)}}; a type ending in ``*`` is repeated.
_MESSAGES = {
    "ModuleWithConfig": {"module": (1, "Module")},
    "Module": {
        "computations": (3, "Computation*"),
        "entry_computation_id": (6, "int64"),
        "input_output_alias": (8, "Aliases"),
    },
    "Aliases": {"entries": (1, "Alias*")},
    "Alias": {"output_shape_index": (1, "int64*"), "parameter_number": (2, "int64")},
    "Computation": {
        "name": (1, "string"),
        "instructions": (2, "Instruction*"),
        "id": (5, "int64"),
        "root_id": (6, "int64"),
    },
    "Instruction": {
        "name": (1, "string"),
        "opcode": (2, "string"),
        "shape": (3, "Shape"),
        "metadata": (7, "Metadata"),
        "parameter_number": (9, "int64"),
        "channel_id": (26, "int64"),
        "custom_call_target": (28, "string"),
        "id": (35, "int64"),
        "operand_ids": (36, "int64*"),
        "control_predecessor_ids": (37, "int64*"),
        "called_computation_ids": (38, "int64*"),
        "sharding": (40, "Sharding"),
        "backend_config": (43, "bytes"),
        "replica_groups": (49, "ReplicaGroup*"),
        "use_global_device_ids": (71, "bool"),
        "device_list": (87, "DeviceList"),
        "iota_device_list": (92, "bytes"),
        "mesh_device_list": (93, "bytes"),
    },
    "Metadata": {"op_type": (1, "string"), "op_name": (2, "string")},
    "DeviceList": {"replica_groups": (1, "ReplicaGroup*")},
    "ReplicaGroup": {"replica_ids": (1, "int64*")},
    "Sharding": {
        "type": (1, "int32"),
        "tile_dimensions": (3, "int64*"),
        "tuple_shardings": (5, "Sharding*"),
    },
    "Shape": {
        "element_type": (2, "int32"),
        "dimensions": (3, "int64*"),
        "tuple_shapes": (4, "Shape*"),
    },
    "CompileOptions": {"build": (3, "BuildOptions")},
    "BuildOptions": {
        "device_ordinal": (1, "int64"),
        "replicas": (4, "int64"),
        "partitions": (5, "int64"),
        "is_spmd": (6, "bool"),
        "assignment": (9, "Assignment"),
        "effort": (24, "int64"),
    },
    "Assignment": {
        "replicas": (1, "int32"),
        "partitions": (2, "int32"),
        "devices": (3, "ReplicaGroup*"),
    },
}

_SCALARS = {"int64": 3, "uint64": 4, "int32": 5, "uint32": 13, "bool": 8, "string": 9, "bytes": 12}
_MESSAGE_TYPE, _OPTIONAL, _REPEATED = 11, 1, 3

#: OpSharding.Type.
REPLICATED, MAXIMAL, TUPLE, OTHER = range(4)


def _file_descriptor() -> Message:
    """Returns the table as a FileDescriptorProto."""
    file = descriptor_pb2.FileDescriptorProto(
        name="tpudist/tools/compile/hlo.proto", package=_PACKAGE, syntax="proto3"
    )
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        for field, (number, kind) in fields.items():
            element = kind.rstrip("*")
            added = message.field.add(
                name=field,
                number=number,
                type=_SCALARS.get(element, _MESSAGE_TYPE),
                label=_REPEATED if kind.endswith("*") else _OPTIONAL,
            )
            if element in _MESSAGES:
                added.type_name = ".%s.%s" % (_PACKAGE, element)
    return file


def _classes() -> dict[str, Any]:
    """Returns {message: class}; releases of protobuf have different functions for it."""
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(_file_descriptor().SerializeToString())
    make = getattr(message_factory, "GetMessageClass", None) or (
        message_factory.MessageFactory(pool).GetPrototype
    )
    return {
        name: make(pool.FindMessageTypeByName("%s.%s" % (_PACKAGE, name))) for name in _MESSAGES
    }


_CLASSES = _classes()
Module, ModuleWithConfig, CompileOptions, Shape = (
    _CLASSES[name] for name in ("Module", "ModuleWithConfig", "CompileOptions", "Shape")
)


class Element(NamedTuple):
    """The type of an array's elements."""

    xla: str  # XLA's name of it, as in HLO's text
    name: str  # numpy's
    bits: int


#: The `Element` of each number of xla.PrimitiveType.
ELEMENTS = {
    1: Element("pred", "bool", 8),
    2: Element("s8", "int8", 8),
    3: Element("s16", "int16", 16),
    4: Element("s32", "int32", 32),
    5: Element("s64", "int64", 64),
    6: Element("u8", "uint8", 8),
    7: Element("u16", "uint16", 16),
    8: Element("u32", "uint32", 32),
    9: Element("u64", "uint64", 64),
    10: Element("f16", "float16", 16),
    11: Element("f32", "float32", 32),
    12: Element("f64", "float64", 64),
    15: Element("c64", "complex64", 64),
    16: Element("bf16", "bfloat16", 16),
    17: Element("token", "token", 0),
    18: Element("c128", "complex128", 128),
    19: Element("f8e5m2", "float8_e5m2", 8),
    20: Element("f8e4m3fn", "float8_e4m3fn", 8),
    21: Element("s4", "int4", 4),
    22: Element("u4", "uint4", 4),
}

_BYTES = {each.name: each.bits // 8 for each in ELEMENTS.values()}


def array_bytes(dtype: str, shape: Iterable[int]) -> int:
    """Returns the bytes of an array; `dtype` is numpy-style, also "bfloat16"."""
    return functools.reduce(operator.mul, shape, _BYTES[dtype])


def shape_text(shape: HloShape) -> str:
    """Formats a HLO shape as people write it, such as ``float32[8,128]``."""
    if shape.tuple_shapes:
        return "(%s)" % ", ".join(map(shape_text, shape.tuple_shapes))
    return "%s[%s]" % (element(shape).name, ",".join(map(str, shape.dimensions)))


def element(shape: HloShape) -> Element:
    """Returns the `Element` of an array's shape."""
    return ELEMENTS.get(shape.element_type, Element("", "element %d" % shape.element_type, 8))


def logical_bytes(shape: HloShape) -> int:
    """Returns the bytes of an array; of a tuple, those of all its arrays."""
    if shape.tuple_shapes:
        return sum(map(logical_bytes, shape.tuple_shapes))
    return functools.reduce(operator.mul, shape.dimensions, element(shape).bits) // 8
