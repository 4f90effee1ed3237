"""The record of one replica's step, lowered to HLO, which the TPU compiler gets.

A `Program` holds no TensorFlow object.
"""

from __future__ import annotations

from typing import NamedTuple

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


class Collective(NamedTuple):
    """A collective that the program asks for."""

    kind: str  # HLO's name of it, such as "all-reduce"
    # of the tensor that one replica puts in
    dtype: str
    shape: tuple[int, ...]
    location: str  # "file:line" of the user's code, "" if unknown


class Program(NamedTuple):
    """One lowered replica step."""

    hlo: bytes  # a serialized HloModuleProto, as TensorFlow lowered it
    replicas: int  # how many replicas run it
    partitions: int  # logical devices per replica
    parameters: tuple[Parameter, ...]  # those of the entry computation, in order
    collectives: tuple[Collective, ...]
    locations: dict[str, str]  # {HLO metadata op_name: "file:line" of the user's code}
    tensorflow: str  # the version of TensorFlow that lowered it
