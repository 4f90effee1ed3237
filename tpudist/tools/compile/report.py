"""The records of a program, and of what the TPU compiler found out about it, with its JSON form.

The JSON form is an object with the fields of `Report`, each record an object
with its own fields, ``"schema"`` and ``"compared"``. Fields may be added; one that changes or
goes away makes a new schema. Sizes are bytes on one device, times seconds. compat/COMPILE.md has
every field. No record holds an object of TensorFlow.
"""

from __future__ import annotations

from typing import Any, NamedTuple

#: Version of the JSON form.
SCHEMA = 5

#: Kinds of arguments.
ARGUMENT, VARIABLE, CAPTURE = "argument", "variable", "capture"


class Argument(NamedTuple):
    """A parameter of the program's entry computation."""

    name: str  # of the variable or the argument, as the user knows it
    kind: str  # ARGUMENT, VARIABLE, or CAPTURE (a tensor of an outer scope)
    dtype: str  # numpy-style name, also "bfloat16"
    shape: tuple[int, ...]  # of one replica
    location: str = ""  # "file:line" that created a variable, "" if unknown
    # of one logical device: `shape` unless it was split; without the padding of the chip's tiles
    device_shape: tuple[int, ...] = ()
    bytes: int = 0


class Collective(NamedTuple):
    """A collective that the program asks for."""

    kind: str  # HLO's name of it, such as "all-reduce"
    # of the tensor that one replica puts in
    dtype: str
    shape: tuple[int, ...]
    location: str  # "file:line" of the user's code, "" if unknown


class Program(NamedTuple):
    """One replica's step, lowered to HLO, which the TPU compiler gets."""

    hlo: bytes  # a serialized HloModuleProto, as TensorFlow lowered it
    replicas: int  # how many replicas run it
    partitions: int  # logical devices per replica
    parameters: tuple[Argument, ...]  # those of the entry computation, in order
    collectives: tuple[Collective, ...]
    locations: dict[str, str]  # {HLO metadata op_name: "file:line" of the user's code}
    tensorflow: str  # the version of TensorFlow that lowered it


class Failure(NamedTuple):
    """The reason for which there is no compiled program."""

    kind: str  # "out-of-memory", "refused" (the compiler's own error), "crash" or "timeout"
    message: str  # of the compiler
    instead: str  # what to do about it
    # that the step computes, before optimization, if it is out of memory
    largest: tuple[Buffer, ...]


class Refusal(NamedTuple):
    """The reason for which a function was not lowered, so that no compiler was asked."""

    function: str  # its name, with its line
    file: str  # of the user's code, "" if unknown
    line: int  # 0 if unknown
    cause: str
    advice: str  # what to type instead


class Buffer(NamedTuple):
    """An array of the program: its size, shape, op, and line of the user's code."""

    bytes: int
    shape: str
    op_name: str
    location: str


class Target(NamedTuple):
    """The slice that the program was compiled for."""

    topology: str  # such as "v5e:2x4"
    chip: str  # the compiler's name of it, "" if unknown
    devices: int  # of the slice
    replicas: int  # of the program
    logical_devices: int  # of each replica
    hbm: int  # bytes of memory that a device may use
    optimized: bool  # False after ``--fast``: the compiler optimized little


class Memory(NamedTuple):
    """HBM of one device, in bytes.

    `aliased` is what outputs share with arguments. `peak` is the compiler's own figure,
    which counts faster memories too; 0 if it reports none.
    """

    arguments: int
    outputs: int
    aliased: int
    temporary: int
    code: int
    peak: int

    @property
    def total(self) -> int:
        """The bytes that the program takes."""
        return self.arguments + self.outputs - self.aliased + self.temporary + self.code


class Cost(NamedTuple):
    """The compiler's cost analysis, of one device; it counts one round of each loop."""

    # None if the compiler does not say
    flops: float | None
    bytes_accessed: float | None
    loops: tuple[str, ...]  # the line of each, else its op's name


class Collectives(NamedTuple):
    """All collectives of a kind: how many, the bytes a device puts in, and the user's lines."""

    kind: str
    count: int  # type: ignore[assignment]  # Over tuple.count.
    bytes: int
    locations: tuple[str, ...]


class Hot(NamedTuple):
    """The compiler's estimate of one instruction; it counts one round of each loop."""

    location: str  # "file:line" of its op, "" if unknown
    instruction: str  # its name in the compiled program
    # the op's name, "" of the compiler's own instructions; a fused one has that of its product
    op_name: str
    cycles: int  # only for comparing
    share: float  # of all cycles, 0 to 1
    layer: str = ""  # the name scope of the op, a layer's of Keras; "" without one


class Versions(NamedTuple):
    """The releases that compiled the program; results of different ones are not comparable."""

    tpudist: str
    tensorflow: str
    libtpu: str
    pjrt: str


class Effort(NamedTuple):
    """The time and memory that compiling took."""

    seconds: float
    peak_bytes: int


class Report(NamedTuple):
    """The TPU compiler's findings on a program."""

    ok: bool  # whether it compiles
    failure: Failure | None  # None if it compiles
    target: Target
    memory: Memory | None  # None if it does not compile
    arguments: tuple[Argument, ...]  # the largest first
    cost: Cost | None  # None if it does not compile
    # that the program asked for, and those of the compiled program
    requested: tuple[Collectives, ...]
    optimized: tuple[Collectives, ...]
    hottest: tuple[Hot, ...]  # the most expensive first
    warnings: tuple[str, ...]  # sentences
    versions: Versions
    effort: Effort

    def to_json(self) -> dict[str, Any]:
        """Returns a dict of JSON types; "compared" is what a later report is compared with."""
        compared = self.compared() if self.ok else None
        values = {field: plain(each) for field, each in self._asdict().items()}
        if self.memory:
            values["memory"] = dict(self.memory._asdict(), total=self.memory.total)
        return dict(values, schema=SCHEMA, compared=compared)

    def compared(self) -> dict[str, Any]:
        """Returns what two reports are compared by: counts are equal, floats within a tolerance."""
        target, cost, memory = self.target, self.cost, self.memory
        assert cost is not None and memory is not None
        effort = "optimized" if target.optimized else "fast"
        size = (target.topology, target.replicas, target.logical_devices)
        return {
            "compiled for": "%s, %d x %d, " % size + effort,
            "HBM": float(memory.total),
            "FLOPs": cost.flops,
            "bytes accessed": cost.bytes_accessed,
            "loops": len(cost.loops),
            "collectives asked for": {each.kind: each.count for each in self.requested},
            "collectives": {each.kind: each.count for each in self.optimized},
            "collective bytes": {each.kind: float(each.bytes) for each in self.optimized},
        }


def plain(value: object) -> object:
    """Returns a record as JSON types."""
    if hasattr(value, "_asdict"):
        return {field: plain(each) for field, each in value._asdict().items()}
    return [plain(each) for each in value] if isinstance(value, (list, tuple)) else value
