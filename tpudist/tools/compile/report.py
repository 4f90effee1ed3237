"""The record of what the TPU compiler found out about a program, and its JSON form.

The JSON form is an object with the fields of `Report`, each record an object
with its own fields, and ``"schema"``. Fields may be added; one that changes or
goes away makes a new schema. Sizes are bytes on one device, times seconds. compat/COMPILE.md has
every field.
"""

from __future__ import annotations

from typing import Any, Mapping, NamedTuple

from tpudist.tools.compile.program import plain, record

#: Version of the JSON form.
SCHEMA = 3


class Failure(NamedTuple):
    """Why there is no compiled program."""

    kind: str  # "out-of-memory", "refused" (the compiler's own error), "crash" or "timeout"
    message: str  # of the compiler
    instead: str  # what to do about it
    # the largest arrays of the program before optimization, if it is out of
    # memory
    largest: tuple[Buffer, ...]
    # the bytes that are missing, as the compiler counts them, if it is out of memory; None if the
    # compiler does not say
    missing: int | None


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


class Argument(NamedTuple):
    """A parameter of the program."""

    name: str  # of the variable or argument
    kind: str  # "argument", "variable" or "capture"
    dtype: str  # numpy-style name
    shape: tuple[int, ...]  # of one replica
    device_shape: tuple[int, ...]  # of one logical device; `shape` unless it was split
    bytes: int  # on one device, with the padding of the chip's tiles
    unpadded: int  # the same without padding
    location: str  # "file:line" that created a variable, "" if unknown


class Cost(NamedTuple):
    """The compiler's cost analysis, of one device and one step."""

    # with all trips of loops; a loop whose trips are unknown counts once. None if the compiler
    # does not say
    flops: float | None
    bytes_accessed: float | None
    loops: tuple[Loop, ...]


class Loop(NamedTuple):
    """A loop: its line and op, the trips of its body (None if unknown), and how often
    the loop itself runs in a step."""

    location: str
    op_name: str
    trips: int | None
    times: int


class Collectives(NamedTuple):
    """All collectives of a kind: how many, the bytes a device puts in, and the user's lines."""

    kind: str
    count: int  # type: ignore[assignment]  # Over tuple.count.
    bytes: int
    locations: tuple[str, ...]


class Split(NamedTuple):
    """A tensor annotated for logical devices; see ``program.Sharding``."""

    name: str
    description: str
    global_shape: tuple[int, ...]
    per_device_shape: tuple[int, ...]
    location: str


class Hot(NamedTuple):
    """The cost of one op of the user's program in one compiled instruction, in one step."""

    location: str  # "file:line", "" if unknown
    layer: str  # the name scopes of the op: Keras layers and ``tf.name_scope``
    # its name in the compiled program. The cost of a fused one is divided among its ops by their
    # FLOPs
    instruction: str
    op_name: str  # its name, "" of the compiler's own instructions
    cycles: float  # the compiler's estimate, with all trips of loops; only for comparing
    share: float  # of all cycles, 0 to 1
    times: int  # how often the instruction runs
    # computed, and moved to and from the device's memory
    flops: float
    bytes: float
    bound: str  # "compute", "memory" or "network": what takes longest at the chip's peaks


class Versions(NamedTuple):
    """The releases that compiled the program; results of different ones are not comparable."""

    tpudist: str
    tensorflow: str
    libtpu: str
    pjrt: str


class Effort(NamedTuple):
    """What compiling took; if it is `cached`, what it took in the earlier run."""

    seconds: float
    cpu_seconds: float
    peak_bytes: int
    cached: bool


class Report(NamedTuple):
    """What the TPU compiler found out about a program."""

    ok: bool  # whether it compiles
    failure: Failure | None  # None if it compiles
    target: Target
    memory: Memory | None  # None if it does not compile
    arguments: tuple[Argument, ...]  # the largest first
    # bytes of HBM that are live at each of the program's instructions, in the order in which they
    # run, evenly thinned out if they are many; simulated
    held: tuple[int, ...]
    # the arrays that are live where `held` is largest
    alive: tuple[Buffer, ...]
    cost: Cost | None  # None if it does not compile
    # that the program asked for, and those of the compiled program
    requested: tuple[Collectives, ...]
    optimized: tuple[Collectives, ...]
    splits: tuple[Split, ...]
    hottest: tuple[Hot, ...]  # of all ops, the most expensive first
    warnings: tuple[str, ...]  # sentences
    versions: Versions
    effort: Effort

    def to_json(self) -> dict[str, Any]:
        """Returns a dict of JSON types, which :func:`from_json` reads."""
        values = dict(plain(self), schema=SCHEMA)
        if self.memory:
            values["memory"]["total"] = self.memory.total
        return values

    def compared(self) -> dict[str, Any]:
        """Returns what two reports are compared by, as JSON types; the program has to compile.

        Sizes and FLOPs are floats, which agree within a tolerance; counts of
        collectives are ints, which agree if they are equal.
        """
        target = self.target
        cost: Any = self.cost
        memory: Any = self.memory
        trips = [each.trips for each in cost.loops]
        values = {
            "compiled for": "%s, %d x %d, %s"
            % (
                target.topology,
                target.replicas,
                target.logical_devices,
                "optimized" if target.optimized else "fast",
            ),
            "HBM": float(memory.total),
            "FLOPs": _number(cost.flops),
            "bytes accessed": _number(cost.bytes_accessed),
            "loops": len(trips),
            "collectives asked for": {each.kind: each.count for each in self.requested},
            "collectives": {each.kind: each.count for each in self.optimized},
            "collective bytes": {each.kind: float(each.bytes) for each in self.optimized},
            "libtpu": self.versions.libtpu,
        }
        return dict(values, **{"rounds of loops": trips} if trips else {})


def _number(value: float | None) -> float | None:
    return None if value is None else float(value)


#: The classes of the records in a field.
_RECORDS = {
    "failure": Failure,
    "largest": Buffer,
    "target": Target,
    "memory": Memory,
    "arguments": Argument,
    "alive": Buffer,
    "cost": Cost,
    "loops": Loop,
    "requested": Collectives,
    "optimized": Collectives,
    "splits": Split,
    "hottest": Hot,
    "versions": Versions,
    "effort": Effort,
}


def from_json(values: Mapping[str, Any]) -> Report:
    """Reads a `Report` from the dict that ``to_json`` returned, or its copy through JSON.

    Fields that this release does not know are ignored; another schema raises a ValueError.
    """
    if values.get("schema") != SCHEMA:
        raise ValueError("schema %r is not %d" % (values.get("schema"), SCHEMA))
    report: Report = record(Report, values, _RECORDS)
    return report
