"""TPU slices: the one table of what a slice's name means. No TensorFlow.

Read by the resolver (``virtual:NAME``), by ``tpudist run --compile NAME``,
by the doctor, and by the errors of all three, so that they cannot disagree.

A slice has two kinds of name: a topology, generation and chips along each axis
(``v5e:2x4``), and Cloud's accelerator type (``v5litepod-8``). What the number in
an accelerator type counts is `Generation.counts`.

Sources: cloud.google.com/tpu/docs/v2, v3, v4, v5e, v5p, v6e and tpu7x
("Configurations": accelerator types, their shapes, chips of a host; "System
architecture": TensorCores of a chip, chips of a pod). Whether TensorFlow sees a
chip of two TensorCores as one device or as two, and the HBM of a device, are
what libtpu 0.0.52 says (``chip_config_name`` "megacore" for v4).
"""

from __future__ import annotations

import functools
import operator
import re
from typing import NamedTuple

from tpudist.errors import TopologyError


class Generation(NamedTuple):
    """One generation of chips.

    Args:
      axes: of its network: 2 or 3.
      cores: TensorCores of a chip.
      devices: of a chip, as TensorFlow and the compiler count them; a replica
        runs on at least one. Two cores that are one device are a "megacore".
      counts: what the number in an accelerator type counts, "cores" or "chips".
      types: the numbers that there are.
      pod: chips of the largest slice.
      ring: chips along an axis from which on its ends are connected.
      host: chips along each axis of a host of a slice of several hosts.
      alone: chips along each axis of the largest slice of one host.
      hbm: bytes that a device may use.
    """

    axes: int
    cores: int
    devices: int
    counts: str
    types: tuple[int, ...]
    pod: int
    ring: int
    host: tuple[int, ...]
    alone: tuple[int, ...]
    hbm: int


_CUBES = (8, 16, 32, 64, 128, 256, 512, 1024, 1536, 2048, 4096, 6144, 8192)
_CHIPS = (1, 4, 8, 16, 32, 64, 128, 256)
_V3 = (8, 32, 64, 128, 256, 512, 1024, 2048)
_FOUR, _EIGHT = (2, 2, 1), (2, 4, 1)

# fmt: off
#: {name, which is libtpu's: `Generation`}, the oldest first.
GENERATIONS = {
    "v2": Generation(2, 2, 2, "cores", (8, 32, 128, 256, 512), 256, 16, _FOUR, _FOUR, 8034172928),
    "v3": Generation(2, 2, 2, "cores", _V3, 1024, 32, _FOUR, _FOUR, 16624107520),
    "v4": Generation(3, 2, 1, "cores", _CUBES, 4096, 4, _FOUR, _FOUR, 33014413312),
    "v5e": Generation(2, 1, 1, "chips", _CHIPS, 256, 16, _FOUR, _EIGHT, 16909336064),
    "v5p": Generation(3, 2, 1, "cores", _CUBES + (12288,), 8960, 4, _FOUR, _FOUR, 102786660352),
    "v6e": Generation(2, 1, 1, "chips", _CHIPS, 256, 16, _FOUR, _EIGHT, 33546042880),
    "tpu7x": Generation(3, 2, 2, "cores", _CUBES, 9216, 4, _FOUR, _FOUR, 101724450816),
}

#: Other spellings of generations, as accelerator types, gcloud and chips have them.
ALIASES = {"v5litepod": "v5e", "v5lite": "v5e", "v5": "v5p", "v6": "v6e"}
ALIASES.update(v7="tpu7x", v7x="tpu7x")

#: Shapes of accelerator types, by their chips: of a flat network and of one of cubes.
_FLAT = {
    1: (1, 1), 4: (2, 2), 8: (2, 4), 16: (4, 4), 32: (4, 8), 64: (8, 8), 128: (8, 16),
    256: (16, 16), 512: (16, 32), 1024: (32, 32),
}
_SOLID = {
    4: (2, 2, 1), 8: (2, 2, 2), 16: (2, 2, 4), 32: (2, 4, 4), 64: (4, 4, 4), 128: (4, 4, 8),
    256: (4, 8, 8), 512: (8, 8, 8), 768: (8, 8, 12), 1024: (8, 8, 16), 2048: (8, 16, 16),
    3072: (12, 16, 16), 4096: (16, 16, 16), 6144: (16, 16, 24),
}
# fmt: on

_TOPOLOGY = re.compile(r"^(\w+)[:=-]([0-9]+(?:x[0-9]+){1,2})$")
_TYPE = re.compile(r"^(\w+)-([0-9]+)$")


class Slice(NamedTuple):
    """A slice of chips of a generation, with its number of chips along each axis."""

    generation: str
    shape: tuple[int, ...]

    @property
    def name(self) -> str:
        """Its topology, such as ``"v5e:2x4"``: one for each slice."""
        return "%s:%s" % (self.generation, "x".join(map(str, self.shape)))

    @property
    def about(self) -> Generation:
        """The `Generation` of its chips."""
        return GENERATIONS[self.generation]

    @property
    def chips(self) -> int:
        """The number of chips."""
        return _product(self.shape)

    @property
    def cores(self) -> int:
        """The number of TensorCores."""
        return self.chips * self.about.cores

    @property
    def devices(self) -> int:
        """The number of devices that TensorFlow has on it: replicas, if none is split."""
        return self.chips * self.about.devices

    @property
    def mesh(self) -> tuple[int, ...]:
        """(x, y, z, devices of a chip); the product is `devices`."""
        return (self.shape + (1,))[:3] + (self.about.devices,)

    @property
    def host(self) -> tuple[int, ...]:
        """Chips of one host along each of three axes."""
        shape = self.mesh[:3]
        largest = self.about.alone if shape == self.about.alone else self.about.host
        return tuple(map(min, shape, largest))

    @property
    def hosts(self) -> int:
        """The number of hosts."""
        return self.chips // _product(self.host)


def find(name: str) -> Slice:
    """The slice of a topology (``"v5e:2x4"``) or an accelerator type (``"v5litepod-8"``).

    Raises:
      TopologyError: (a ValueError) there is no such slice.
    """
    text = name.strip().lower()
    typed, shaped = _TYPE.match(text), _TOPOLOGY.match(text)
    match = typed or shaped
    if match is None:
        raise _unknown(name)
    spelled, size = match.groups()
    generation = ALIASES.get(spelled, spelled)
    if generation not in GENERATIONS:
        raise _unknown(name)
    if typed:
        return _of_type(name, spelled, generation, int(size))
    return _of_shape(name, generation, tuple(map(int, size.split("x"))))


def accelerator_types(generation: str) -> dict[int, tuple[int, ...]]:
    """{number in the accelerator type: shape} of a key of GENERATIONS."""
    about = GENERATIONS[generation]
    shapes = _FLAT if about.axes == 2 else _SOLID
    counted = about.cores if about.counts == "cores" else 1
    return {number: shapes[number // counted] for number in about.types}


def _of_type(name: str, spelled: str, generation: str, number: int) -> Slice:
    types = accelerator_types(generation)
    if number not in types:
        raise TopologyError(
            "accelerator type %r" % name,
            "%s types count %s, and there is none of %d"
            % (generation, GENERATIONS[generation].counts, number),
            "one of %s; or a topology, such as %s"
            % (", ".join("%s-%d" % (spelled, each) for each in types), _examples(generation)),
        )
    return Slice(generation, types[number])


def _of_shape(name: str, generation: str, shape: tuple[int, ...]) -> Slice:
    chosen = Slice(generation, _with_axes(name, generation, shape))
    if not 0 < chosen.chips <= chosen.about.pod:
        raise TopologyError(
            "topology %r has %d chips" % (name, chosen.chips),
            "a %s pod has 1 to %d" % (generation, chosen.about.pod),
            "a smaller slice, such as %s" % _examples(generation),
        )
    if any(length % host for length, host in zip(chosen.shape, chosen.host)):
        raise TopologyError(
            "topology %r" % name,
            "a slice is made of whole hosts, of 2x2 chips each",
            "even numbers along the first two axes, such as %s" % _examples(generation),
        )
    return chosen


def _with_axes(name: str, generation: str, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape with as many axes as the generation's network."""
    axes = GENERATIONS[generation].axes
    if len(shape) < axes:
        return shape + (1,)
    if len(shape) > axes and shape[-1] != 1:
        raise TopologyError(
            "topology %r has %d axes" % (name, len(shape)),
            "the network of %s has %d" % (generation, axes),
            "a slice such as %s" % _examples(generation),
        )
    return shape[:axes]


def _unknown(name: str) -> TopologyError:
    return TopologyError(
        "topology %r" % name,
        "it is neither GENERATION:AxB[xC] nor an accelerator type; generations are %s"
        % ", ".join(GENERATIONS),
        "such as v5e:2x4, v4:2x2x2, v3-32, v5litepod-8, v6e-8",
    )


def _examples(generation: str) -> str:
    shapes = _FLAT if GENERATIONS[generation].axes == 2 else _SOLID
    return ", ".join(Slice(generation, shapes[chips]).name for chips in (4, 8, 16))


def _product(shape: tuple[int, ...]) -> int:
    return functools.reduce(operator.mul, shape, 1)
