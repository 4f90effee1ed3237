"""TensorFlow's protobuf classes of HLO, the options of its compilation, and the sizes of arrays.

All fields that tpudist does not name are kept as they are.
"""

from __future__ import annotations

import math
import re
from typing import Any, Iterable

from tensorflow.compiler.xla import xla_data_pb2
from tensorflow.compiler.xla.service import hlo_pb2

#: Types of messages in annotations; TensorFlow has no types.
HloModule = Any
HloComputation = Any
HloInstruction = Any
HloShape = Any
HloSharding = Any

#: Also of a HloModuleProtoWithConfig, whose first field is the module, too.
Program = hlo_pb2.HloProto
Module, Shape = hlo_pb2.HloModuleProto, xla_data_pb2.ShapeProto

#: OpSharding.Type.
REPLICATED, MAXIMAL, TUPLE, OTHER = range(4)

_KINDS = {"f": "float", "bf": "bfloat", "s": "int", "u": "uint", "c": "complex"}


def encoded(*fields: tuple[int, int | bytes]) -> bytes:
    """Encodes a protobuf message from (number, value) pairs; a value of bytes is a message."""
    made = bytearray()
    for number, value in fields:
        content = value if isinstance(value, bytes) else b""
        kind = number << 3 | 2 * isinstance(value, bytes)
        for each in (kind, len(value) if isinstance(value, bytes) else value % 2**64):
            while each > 127:
                made.append(each & 127 | 128)
                each >>= 7
            made.append(each)
        made += content
    return bytes(made)


def element(shape: HloShape) -> str:
    """Returns numpy's name of the type of an array's elements, also "bfloat16"."""
    try:
        name = xla_data_pb2.PrimitiveType.Name(shape.element_type).lower()
    except ValueError:  # of a newer compiler
        return "element %d" % shape.element_type
    found = re.match(r"(bf|f|s|u|c)(\d+)(.*)", name)
    if not found:
        return "bool" if name == "pred" else str(name)
    kind, bits, form = found.groups()
    return _KINDS[kind] + bits + (form and "_" + form)


def array_bytes(dtype: str, shape: Iterable[int]) -> int:
    """Returns the bytes of an array; `dtype` is numpy-style, also "bfloat16"."""
    bits = 0 if dtype == "token" else int((re.findall(r"^[a-z]+(\d+)", dtype) or [8])[0])
    return math.prod(shape) * bits // 8


def shape_text(shape: HloShape) -> str:
    """Formats a HLO shape as people write it, such as ``float32[8,128]``."""
    if shape.tuple_shapes:
        return "(%s)" % ", ".join(map(shape_text, shape.tuple_shapes))
    return "%s[%s]" % (element(shape), ",".join(map(str, shape.dimensions)))


def logical_bytes(shape: HloShape) -> int:
    """Returns the bytes of an array; of a tuple, those of all its arrays."""
    if shape.tuple_shapes:
        return sum(map(logical_bytes, shape.tuple_shapes))
    return array_bytes(element(shape), shape.dimensions)
