"""What the TPU compiler said of a program: a record, and its JSON form.

The JSON form is an object with the fields of `Report`, each record an object
with its own fields, and ``"schema"``. Fields may be added; one that changes or
goes away makes a new schema. Sizes are bytes on one device, times seconds.
"""

from __future__ import annotations

import collections
import typing

#: Version of the JSON form.
SCHEMA = 3


class Failure(typing.NamedTuple):
    """Why there is no compiled program.

    Args:
      kind: "out-of-memory", "refused" (the compiler's own error), "crash" or
        "timeout".
      message: the compiler's words.
      instead: what to do about it.
      largest: if it is out of memory, `Buffer` records of the largest arrays of
        the program before optimization.
      missing: if it is out of memory, how many bytes, as the compiler counts them;
        None if it does not say.
    """

    kind: str
    message: str
    instead: str
    largest: tuple[Buffer, ...]
    missing: int | None


class Buffer(typing.NamedTuple):
    """An array that the program computes: size, shape, op, and line of the user's code."""

    bytes: int
    shape: str
    op_name: str
    location: str


class Target(typing.NamedTuple):
    """What was compiled for.

    Args:
      topology: such as "v5e:2x4".
      chip: the compiler's name of it, "" if it was not asked.
      devices: of the slice.
      replicas: of the program.
      logical_devices: of each replica.
      hbm: what a device may use.
      optimized: False after ``--fast``: the compiler optimized little.
    """

    topology: str
    chip: str
    devices: int
    replicas: int
    logical_devices: int
    hbm: int
    optimized: bool


class Memory(typing.NamedTuple):
    """HBM of one device, in bytes. `aliased` is what outputs share with arguments; `peak`
    is the compiler's own figure, 0 if it tells none, which counts faster memories too."""

    arguments: int
    outputs: int
    aliased: int
    temporary: int
    code: int
    peak: int

    @property
    def total(self) -> int:
        """All that is held at once."""
        return self.arguments + self.outputs - self.aliased + self.temporary + self.code


class Argument(typing.NamedTuple):
    """A parameter of the program.

    Args:
      name: of the variable or argument.
      kind: "argument", "variable" or "capture".
      dtype: numpy-style name.
      shape: of one replica.
      device_shape: of one logical device; `shape` unless it was split.
      bytes: on one device, with the padding of the chip's tiles.
      unpadded: the same without padding.
      location: "file:line" that made a variable, "" if unknown.
    """

    name: str
    kind: str
    dtype: str
    shape: tuple[int, ...]
    device_shape: tuple[int, ...]
    bytes: int
    unpadded: int
    location: str


class Cost(typing.NamedTuple):
    """The compiler's cost analysis, of one device and one step.

    Args:
      flops, bytes_accessed: as often as loops run; of a loop that nobody knows the
        rounds of, one. None if unknown.
      loops: `Loop` records.
    """

    flops: float | None
    bytes_accessed: float | None
    loops: tuple[Loop, ...]


class Loop(typing.NamedTuple):
    """A loop: its line and op, the rounds of its body (None if unknown), and how often
    the loop itself runs in a step."""

    location: str
    op_name: str
    trips: int | None
    times: int


class Collectives(typing.NamedTuple):
    """All collectives of a kind: how many, the bytes a device puts in, and the lines asking."""

    kind: str
    count: int  # type: ignore[assignment]  # Over tuple.count.
    bytes: int
    locations: tuple[str, ...]


class Split(typing.NamedTuple):
    """A tensor annotated for logical devices; see ``program.Sharding``."""

    name: str
    description: str
    global_shape: tuple[int, ...]
    per_device_shape: tuple[int, ...]
    location: str


class Hot(typing.NamedTuple):
    """What one op of the user's program costs in one compiled instruction, in one step.

    Args:
      location: "file:line", "" if unknown.
      layer: the name scopes of the op: Keras layers and ``tf.name_scope``.
      instruction: its name in the compiled program. A fused one is shared out among
        the ops in it, by what each computes.
      op_name: its name, "" of the compiler's own instructions.
      cycles: the compiler's estimate, as often as loops run; only for comparing.
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


class Versions(typing.NamedTuple):
    """Who compiled: numbers of different compilers are not comparable."""

    tpudist: str
    tensorflow: str
    libtpu: str
    pjrt: str


class Effort(typing.NamedTuple):
    """What compiling took. `cached`: it was done before, and took that then."""

    seconds: float
    cpu_seconds: float
    peak_bytes: int
    cached: bool


class Report(typing.NamedTuple):
    """What the TPU compiler said of a program.

    Args:
      ok: whether it compiles.
      failure: a `Failure`, None if it compiles.
      target: a `Target`.
      memory: a `Memory`, None if it does not compile.
      arguments: `Argument` records, the largest first.
      held: bytes of HBM at each of the program's instructions, in the order in which they
        run, evenly thinned out where they are many; simulated.
      alive: `Buffer` records of the arrays that are held where that is most.
      cost: a `Cost`, None if it does not compile.
      requested, optimized: `Collectives` that the program asked for, and those
        of the compiled program.
      splits: `Split` records.
      hottest: `Hot` records of all ops, the dearest first.
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

    def to_json(self) -> dict[str, typing.Any]:
        """A dict of JSON types; :func:`from_json` reads it."""
        made = dict(_plain(self), schema=SCHEMA)
        if self.memory:
            made["memory"]["total"] = self.memory.total
        return made

    def compared(self) -> dict[str, typing.Any]:
        """What of a program that compiles is held against another, as JSON types.

        Sizes and FLOPs are floats, which agree within a tolerance; counts of
        collectives are ints, which agree if they are equal.
        """
        target = self.target
        cost: typing.Any = self.cost
        memory: typing.Any = self.memory
        rounds = [each.trips for each in cost.loops]
        found = {
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
            "loops": len(rounds),
            "collectives asked for": {each.kind: each.count for each in self.requested},
            "collectives": {each.kind: each.count for each in self.optimized},
            "collective bytes": {each.kind: float(each.bytes) for each in self.optimized},
            "libtpu": self.versions.libtpu,
        }
        return dict(found, **{"rounds of loops": rounds} if rounds else {})


def _number(value: float | None) -> float | None:
    return None if value is None else float(value)


def _plain(value: typing.Any) -> typing.Any:
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


def from_json(found: typing.Mapping[str, typing.Any]) -> Report:
    """The `Report` of a dict that ``to_json`` made, also after JSON.

    Args:
      found: the dict; fields that this release does not know are left out.

    Returns:
      A `Report`.

    Raises:
      ValueError: it is of another schema.
    """
    if found.get("schema") != SCHEMA:
        raise ValueError("schema %r is not %d" % (found.get("schema"), SCHEMA))
    made = {field: found[field] for field in Report._fields}
    for field, record in _RECORDS.items():
        made[field] = made[field] and _record(record, made[field])
    for field, record in _LISTS.items():
        made[field] = tuple(_record(record, each) for each in made[field])
    if made["failure"]:
        made["failure"] = made["failure"]._replace(
            largest=tuple(_record(Buffer, each) for each in made["failure"].largest)
        )
    if made["cost"]:
        loops = tuple(_record(Loop, each) for each in made["cost"].loops)
        made["cost"] = made["cost"]._replace(loops=loops)
    return Report(**dict(made, warnings=tuple(made["warnings"]), held=tuple(made["held"])))


def _record(cls: typing.Any, found: typing.Mapping[str, typing.Any]) -> typing.Any:
    return cls(
        **{
            field: tuple(found[field]) if isinstance(found[field], list) else found[field]
            for field in cls._fields
        }
    )
