"""The record of what the TPU compiler found out about a program, and its JSON form.

The JSON form is an object with the fields of `Report`, each record an object
with its own fields, and ``"schema"``. Fields may be added; one that changes or
goes away makes a new schema. Sizes are bytes on one device, times seconds.
"""

from __future__ import annotations

import collections
from typing import Any, Mapping, NamedTuple

from tpudist.tools.compile.program import record

#: Version of the JSON form.
SCHEMA = 3


class Failure(NamedTuple):
    """Why there is no compiled program.

    Args:
      kind: "out-of-memory", "refused" (the compiler's own error), "crash" or
        "timeout".
      message: of the compiler.
      instead: what to do about it.
      largest: `Buffer` records of the largest arrays of the program before
        optimization, if it is out of memory.
      missing: the bytes that are missing, as the compiler counts them, if it is out of
        memory; None if the compiler does not say.
    """

    kind: str
    message: str
    instead: str
    largest: tuple[Buffer, ...]
    missing: int | None


class Buffer(NamedTuple):
    """An array of the program: its size, shape, op, and line of the user's code."""

    bytes: int
    shape: str
    op_name: str
    location: str


class Target(NamedTuple):
    """The slice that the program was compiled for.

    Args:
      topology: such as "v5e:2x4".
      chip: the compiler's name of it, "" if unknown.
      devices: of the slice.
      replicas: of the program.
      logical_devices: of each replica.
      hbm: bytes of memory that a device may use.
      optimized: False after ``--fast``: the compiler optimized little.
    """

    topology: str
    chip: str
    devices: int
    replicas: int
    logical_devices: int
    hbm: int
    optimized: bool


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
    """A parameter of the program.

    Args:
      name: of the variable or argument.
      kind: "argument", "variable" or "capture".
      dtype: numpy-style name.
      shape: of one replica.
      device_shape: of one logical device; `shape` unless it was split.
      bytes: on one device, with the padding of the chip's tiles.
      unpadded: the same without padding.
      location: "file:line" that created a variable, "" if unknown.
    """

    name: str
    kind: str
    dtype: str
    shape: tuple[int, ...]
    device_shape: tuple[int, ...]
    bytes: int
    unpadded: int
    location: str


class Cost(NamedTuple):
    """The compiler's cost analysis, of one device and one step.

    Args:
      flops, bytes_accessed: with all trips of loops; a loop whose trips are unknown
        counts once. None if the compiler does not say.
      loops: `Loop` records.
    """

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
    """The cost of one op of the user's program in one compiled instruction, in one step.

    Args:
      location: "file:line", "" if unknown.
      layer: the name scopes of the op: Keras layers and ``tf.name_scope``.
      instruction: its name in the compiled program. The cost of a fused one is divided
        among its ops by their FLOPs.
      op_name: its name, "" of the compiler's own instructions.
      cycles: the compiler's estimate, with all trips of loops; only for comparing.
      share: of all cycles, 0 to 1.
      times: how often the instruction runs.
      flops, bytes: computed, and moved to and from the device's memory.
      bound: "compute", "memory" or "network": what takes longest at the chip's peaks.
    """

    location: str
    layer: str
    instruction: str
    op_name: str
    cycles: float
    share: float
    times: int
    flops: float
    bytes: float
    bound: str


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
    """What the TPU compiler found out about a program.

    Args:
      ok: whether it compiles.
      failure: a `Failure`, None if it compiles.
      target: a `Target`.
      memory: a `Memory`, None if it does not compile.
      arguments: `Argument` records, the largest first.
      held: bytes of HBM that are live at each of the program's instructions, in the order
        in which they run, evenly thinned out if they are many; simulated.
      alive: `Buffer` records of the arrays that are live where `held` is largest.
      cost: a `Cost`, None if it does not compile.
      requested, optimized: `Collectives` that the program asked for, and those
        of the compiled program.
      splits: `Split` records.
      hottest: `Hot` records of all ops, the most expensive first.
      warnings: sentences.
      versions: a `Versions`.
      effort: an `Effort`.
    """

    ok: bool
    failure: Failure | None
    target: Target
    memory: Memory | None
    arguments: tuple[Argument, ...]
    held: tuple[int, ...]
    alive: tuple[Buffer, ...]
    cost: Cost | None
    requested: tuple[Collectives, ...]
    optimized: tuple[Collectives, ...]
    splits: tuple[Split, ...]
    hottest: tuple[Hot, ...]
    warnings: tuple[str, ...]
    versions: Versions
    effort: Effort

    def to_json(self) -> dict[str, Any]:
        """Returns a dict of JSON types, which :func:`from_json` reads."""
        values = dict(_plain(self), schema=SCHEMA)
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


def _plain(value: Any) -> Any:
    """Returns a record as JSON types."""
    if hasattr(value, "_asdict"):
        return collections.OrderedDict(
            (field, _plain(each)) for field, each in zip(value._fields, value)
        )
    return [_plain(each) for each in value] if isinstance(value, (list, tuple)) else value


_RECORDS = {
    "failure": Failure,
    "target": Target,
    "memory": Memory,
    "cost": Cost,
    "versions": Versions,
    "effort": Effort,
}
_LISTS = {
    "arguments": Argument,
    "alive": Buffer,
    "requested": Collectives,
    "optimized": Collectives,
    "splits": Split,
    "hottest": Hot,
}


def from_json(values: Mapping[str, Any]) -> Report:
    """Reads a `Report` from the dict that ``to_json`` returned, or its copy through JSON.

    Fields that this release does not know are ignored; another schema raises a ValueError.
    """
    if values.get("schema") != SCHEMA:
        raise ValueError("schema %r is not %d" % (values.get("schema"), SCHEMA))
    fields = {field: values[field] for field in Report._fields}
    for field, cls in _RECORDS.items():
        fields[field] = fields[field] and record(cls, fields[field])
    for field, cls in _LISTS.items():
        fields[field] = tuple(record(cls, each) for each in fields[field])
    if fields["failure"]:
        fields["failure"] = fields["failure"]._replace(
            largest=tuple(record(Buffer, each) for each in fields["failure"].largest)
        )
    if fields["cost"]:
        loops = tuple(record(Loop, each) for each in fields["cost"].loops)
        fields["cost"] = fields["cost"]._replace(loops=loops)
    return Report(**dict(fields, warnings=tuple(fields["warnings"]), held=tuple(fields["held"])))
