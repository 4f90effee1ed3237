"""What is handed to the TPU compiler: one replica's step, lowered to HLO.

A `Program` holds no TensorFlow object, so that it can be lowered in one
environment, written as JSON, and compiled in another.
"""

from __future__ import annotations

import base64
import collections
import typing

#: Version of the JSON form.
FORMAT = 1

ARGUMENT = "argument"
VARIABLE = "variable"
CAPTURE = "capture"


class Parameter(typing.NamedTuple):
    """One parameter of the HLO entry computation.

    Args:
      name: of the variable or the argument, as the user knows it.
      kind: "argument", "variable", or "capture" (a tensor of an outer scope).
      dtype: numpy-style name, also "bfloat16".
      shape: per replica, a tuple of ints.
      location: "file:line" that made a variable, "" if unknown.
    """

    name: str
    kind: str
    dtype: str
    shape: tuple[int, ...]
    location: str = ""


class Output(typing.NamedTuple):
    """One of the step's own outputs: name, dtype name, shape per replica."""

    name: str
    dtype: str
    shape: tuple[int, ...]


class Collective(typing.NamedTuple):
    """A collective that the program asks for.

    Args:
      kind: HLO's name of it, such as "all-reduce".
      dtype, shape: of what one replica puts in.
      location: "file:line" of the user's code, "" if unknown.
    """

    kind: str
    dtype: str
    shape: tuple[int, ...]
    location: str


class Sharding(typing.NamedTuple):
    """One annotation of a tensor for the logical devices of a replica.

    Args:
      parameter: index of the parameter that is annotated, else None.
      name: of that parameter, or of the tensor's operation.
      description: such as "split 2x1", "replicate", "assign to 1".
      global_shape: of the tensor, all logical devices together.
      per_device_shape: of one logical device's part.
      location: "file:line" of the user's code, "" if unknown.
    """

    parameter: int | None
    name: str
    description: str
    global_shape: tuple[int, ...]
    per_device_shape: tuple[int, ...]
    location: str


class Program(typing.NamedTuple):
    """One lowered replica step.

    Args:
      hlo: a serialized HloModuleProto, as TensorFlow gave it.
      replicas: how many replicas run it.
      partitions: logical devices per replica.
      parameters: a `Parameter` for each of the entry computation's, in order.
      updated: indices of the parameters whose variables the step updates, in
        the order in which they follow `outputs` in the root tuple.
      outputs: an `Output` for each of the step's own outputs.
      collectives: a `Collective` for each one asked for.
      shardings: a `Sharding` for each annotation for logical devices.
      locations: {HLO metadata op_name: "file:line" of the user's code}.
      warnings: sentences for the report.
      tensorflow: version that lowered it.
    """

    hlo: bytes
    replicas: int
    partitions: int
    parameters: tuple[Parameter, ...]
    updated: tuple[int, ...]
    outputs: tuple[Output, ...]
    collectives: tuple[Collective, ...]
    shardings: tuple[Sharding, ...]
    locations: dict[str, str]
    warnings: tuple[str, ...]
    tensorflow: str

    def to_json(self) -> dict[str, typing.Any]:
        """A dict of JSON types from which :func:`from_json` makes it again."""
        made: dict[str, typing.Any] = dict(
            collections.OrderedDict(zip(self._fields, self)),
            format=FORMAT,
            hlo=base64.b64encode(self.hlo).decode(),
        )
        for field in _RECORDS:
            made[field] = [dict(record._asdict()) for record in made[field]]
        return made


_RECORDS = {
    "parameters": Parameter,
    "outputs": Output,
    "collectives": Collective,
    "shardings": Sharding,
}


def from_json(found: typing.Mapping[str, typing.Any]) -> Program:
    """The `Program` of a dict that ``to_json`` made, also after JSON.

    Args:
      found: the dict.

    Returns:
      The `Program`.
    """
    made = {field: found[field] for field in Program._fields}
    made["hlo"] = base64.b64decode(made["hlo"])
    for field, record in _RECORDS.items():
        made[field] = tuple(_record(record, entry) for entry in made[field])
    for field in ("updated", "warnings"):
        made[field] = tuple(made[field])
    return Program(**made)


def records(
    cls: typing.Any, rows: typing.Iterable[typing.Sequence[typing.Any]]
) -> tuple[typing.Any, ...]:
    """A tuple of records of a class, of rows with lists in place of tuples."""
    return tuple(_record(cls, dict(zip(cls._fields, row))) for row in rows)


def _record(cls: typing.Any, entry: typing.Mapping[str, typing.Any]) -> typing.Any:
    return cls(
        **{
            field: tuple(value) if isinstance(value, list) else value
            for field, value in entry.items()
        }
    )
