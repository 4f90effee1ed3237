"""The record of one replica's step, lowered to HLO, which the TPU compiler gets.

A `Program` holds no TensorFlow object.
"""

from __future__ import annotations

from typing import Any, Iterable, Mapping, NamedTuple, Sequence

ARGUMENT = "argument"
VARIABLE = "variable"
CAPTURE = "capture"


class Parameter(NamedTuple):
    """One parameter of the HLO entry computation."""

    name: str  # of the variable or the argument, as the user knows it
    kind: str  # "argument", "variable", or "capture" (a tensor of an outer scope)
    dtype: str  # numpy-style name, also "bfloat16"
    shape: tuple[int, ...]  # per replica
    location: str = ""  # "file:line" that created a variable, "" if unknown


class Output(NamedTuple):
    """One of the step's own outputs: name, dtype name, shape per replica."""

    name: str
    dtype: str
    shape: tuple[int, ...]


class Collective(NamedTuple):
    """A collective that the program asks for."""

    kind: str  # HLO's name of it, such as "all-reduce"
    # of the tensor that one replica puts in
    dtype: str
    shape: tuple[int, ...]
    location: str  # "file:line" of the user's code, "" if unknown


class Sharding(NamedTuple):
    """One annotation of a tensor for the logical devices of a replica."""

    parameter: int | None  # index of the annotated parameter; None for another tensor
    name: str  # of that parameter, or of the tensor's operation
    description: str  # such as "split 2x1", "replicate", "assign to 1"
    global_shape: tuple[int, ...]  # of the whole tensor
    per_device_shape: tuple[int, ...]  # of the part on one logical device
    location: str  # "file:line" of the user's code, "" if unknown


class Program(NamedTuple):
    """One lowered replica step."""

    hlo: bytes  # a serialized HloModuleProto, as TensorFlow lowered it
    replicas: int  # how many replicas run it
    partitions: int  # logical devices per replica
    parameters: tuple[Parameter, ...]  # those of the entry computation, in order
    # indices of the parameters whose variables the step updates, in the order in which they follow
    # `outputs` in the root tuple
    updated: tuple[int, ...]
    outputs: tuple[Output, ...]
    collectives: tuple[Collective, ...]
    shardings: tuple[Sharding, ...]
    locations: dict[str, str]  # {HLO metadata op_name: "file:line" of the user's code}
    warnings: tuple[str, ...]  # sentences for the report
    tensorflow: str  # the version of TensorFlow that lowered it


def records(cls: Any, rows: Iterable[Sequence[Any]]) -> tuple[Any, ...]:
    """Builds records of a class from rows of their fields, whose tuples may be lists."""
    return tuple(record(cls, dict(zip(cls._fields, row))) for row in rows)


def plain(value: Any) -> Any:
    """Returns a record as JSON types."""
    if hasattr(value, "_asdict"):
        return {field: plain(each) for field, each in zip(value._fields, value)}
    return [plain(each) for each in value] if isinstance(value, (list, tuple)) else value


def record(cls: Any, values: Mapping[str, Any], inner: Mapping[str, Any] | None = None) -> Any:
    """Builds a record of a class from its fields, whose tuples may be lists; ignores others.

    Args:
      inner: {field: the class of the records in it}, of records at any depth.
    """
    inner = inner or {}

    def read(kind: Any, value: Any) -> Any:
        if isinstance(value, list):
            return tuple(read(kind, each) for each in value)
        return record(kind, value, inner) if kind and isinstance(value, dict) else value

    return cls(**{field: read(inner.get(field), values[field]) for field in cls._fields})
