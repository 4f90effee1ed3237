"""Slices of TPUs: the names people know, and what the compiler is told.

Two ways to name a slice: a topology, generation and chips along each axis
(``v5e:2x4``), and Cloud's accelerator type (``v5litepod-8``), whose number
counts TensorCores up to v4 and on v5p, and chips on v5e and v6e.
"""

import collections
import functools
import operator
import re
import typing

from tpudist.errors import TopologyError


class Generation(typing.NamedTuple):
    """One generation of chips.

    Args:
      axes: of its network: 2 or 3.
      devices: of the compiler and of TensorFlow per chip. A chip of v5p has
        two TensorCores that are one device.
      hbm: bytes that the compiler lets a device use, as libtpu 0.0.52 says
        (of v4 it names what a chip has, and lets a device use half of it).
      pod: chips of a whole pod, the largest slice.
      ring: chips along an axis from which on its ends are connected.
      counts: whether accelerator types count "cores" or "chips"; "" if
        there are none.
    """

    axes: int
    devices: int
    hbm: int
    pod: int
    ring: int
    counts: str


GENERATIONS = collections.OrderedDict(
    [
        ("v2", Generation(2, 2, 8034172928, 256, 16, "cores")),
        ("v3", Generation(2, 2, 16624107520, 1024, 32, "cores")),
        ("v4", Generation(3, 2, 16372985856, 4096, 4, "cores")),
        ("v5e", Generation(2, 1, 16909336064, 256, 16, "chips")),
        ("v5p", Generation(3, 1, 102786661888, 8960, 4, "cores")),
        ("v6e", Generation(2, 1, 33546042880, 256, 16, "chips")),
        ("tpu7x", Generation(3, 2, 101724453888, 9216, 4, "")),
    ]
)

#: Other spellings of generations, as accelerator types, gcloud and chips have them.
ALIASES = {"v5litepod": "v5e", "v5lite": "v5e", "v5": "v5p", "v6": "v6e", "v7x": "tpu7x"}

#: Chips of accelerator types: their shape, by how many there are.
_FLAT = {
    1: (1, 1),
    4: (2, 2),
    8: (2, 4),
    16: (4, 4),
    32: (4, 8),
    64: (8, 8),
    128: (8, 16),
    256: (16, 16),
    512: (16, 32),
    1024: (32, 32),
}
_SOLID = {
    4: (2, 2, 1),
    8: (2, 2, 2),
    16: (2, 2, 4),
    32: (2, 4, 4),
    64: (4, 4, 4),
    128: (4, 4, 8),
    256: (4, 8, 8),
    512: (8, 8, 8),
    768: (8, 8, 12),
    1024: (8, 8, 16),
    2048: (8, 16, 16),
    3072: (12, 16, 16),
    4096: (16, 16, 16),
    6144: (16, 16, 24),
}

#: Accelerator types below this many chips are of v5e and v6e only.
_HOST = 4

#: Chips of one host, along each axis; a slice is made of whole hosts.
_HOST_SHAPE = (2, 2, 1)

_TOPOLOGY = re.compile(r"^(\w+)[:=]([0-9]+(?:x[0-9]+){1,2})$")
_TYPE = re.compile(r"^(\w+)-([0-9]+)$")


class Topology(typing.NamedTuple):
    """A slice.

    Args:
      name: such as ``"v5e:2x4"``, one for each slice.
      generation: a key of GENERATIONS.
      shape: chips along each axis.
      devices: of the slice; what one replica runs on, if it is not split.
      hbm: bytes that the compiler lets a device use.
    """

    name: str
    generation: str
    shape: tuple
    devices: int
    hbm: int

    def options(self):
        """What libtpu is told beside the name: the host's chips, and the rings."""
        shape = self.shape + (1,) * (3 - len(self.shape))
        options = {"chips_per_host_bounds": list(map(min, shape, _HOST_SHAPE))}
        wrap = _rings(GENERATIONS[self.generation], self.shape)
        if any(wrap):
            options["wrap"] = wrap + [0] * (3 - len(wrap))
        return options


def _rings(generation, shape):
    """Along which axes the ends are connected.

    A flat slice has a ring where it is as long as its pod; a solid one is made
    of cubes, whose ends are connected if there is nothing but whole cubes.
    """
    if generation.axes == 2:
        return [int(chips == generation.ring) for chips in shape]
    return [int(all(chips % generation.ring == 0 for chips in shape))] * 3


def topology(name):
    """The slice of a name.

    Args:
      name: a topology (``"v5e:2x4"``) or an accelerator type (``"v5litepod-8"``).

    Returns:
      A `Topology`.

    Raises:
      TopologyError: there is no such slice.
    """
    text = name.strip().lower()
    typed, shaped = _TYPE.match(text), _TOPOLOGY.match(text)
    if typed:
        return _of_type(name, *typed.groups())
    if not shaped:
        raise _unknown(name)
    generation = ALIASES.get(shaped.group(1), shaped.group(1))
    if generation not in GENERATIONS:
        raise _unknown(name)
    shape = tuple(map(int, shaped.group(2).split("x")))
    return _made(name, generation, _with_axes(name, generation, shape))


def _made(name, generation, shape):
    about = GENERATIONS[generation]
    chips = _product(shape)
    if not 0 < chips <= about.pod:
        raise TopologyError(
            "topology %r has %d chips" % (name, chips),
            "a %s pod has 1 to %d" % (generation, about.pod),
            "a smaller slice, such as %s" % _examples(generation),
        )
    if any(length % min(host, length) for length, host in zip(shape, _HOST_SHAPE)):
        raise TopologyError(
            "topology %r" % name,
            "a slice is made of whole hosts, of 2x2 chips each",
            "even numbers along the first two axes, such as %s" % _examples(generation),
        )
    return Topology(
        "%s:%s" % (generation, "x".join(map(str, shape))),
        generation,
        shape,
        chips * about.devices,
        about.hbm,
    )


def _with_axes(name, generation, shape):
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


def _of_type(name, spelled, count):
    generation = ALIASES.get(spelled, spelled)
    types = accelerator_types(generation)
    if not types:
        raise _unknown(name)
    if int(count) not in types:
        raise TopologyError(
            "accelerator type %r" % name,
            "%s types count %s, and there is none of %s"
            % (generation, GENERATIONS[generation].counts, count),
            "one of %s; or a topology, such as %s"
            % (
                ", ".join("%s-%d" % (spelled, each) for each in sorted(types)),
                _examples(generation),
            ),
        )
    return _made(name, generation, types[int(count)])


def accelerator_types(generation):
    """{number in the accelerator type: shape} of a generation; {} if it has none.

    Args:
      generation: a key of GENERATIONS, or anything else.
    """
    about = GENERATIONS.get(generation)
    if about is None or not about.counts:
        return {}
    per_chip, least = (2, _HOST) if about.counts == "cores" else (1, 1)
    shapes = _FLAT if about.axes == 2 else _SOLID
    return {
        chips * per_chip: shape
        for chips, shape in shapes.items()
        if least <= chips <= about.pod and not (about.counts == "cores" and shape == (2, 4))
    }


def _unknown(name):
    return TopologyError(
        "topology %r" % name,
        "it is neither GENERATION:AxB[xC] nor an accelerator type; generations are %s"
        % ", ".join(GENERATIONS),
        "such as v5e:2x4, v4:2x2x2, v3-32, v5litepod-8, v6e-8",
    )


def _examples(generation):
    return ", ".join(
        "%s:%s" % (generation, "x".join(map(str, shape)))
        for shape in (_FLAT if GENERATIONS[generation].axes == 2 else _SOLID).values()
        if 4 <= _product(shape) <= 16
    )


def _product(shape):
    return functools.reduce(operator.mul, shape)


def check(found, replicas, partitions):
    """Refuses what does not fit on a slice, before any compiler runs.

    Args:
      found: a `Topology`.
      replicas: of the program.
      partitions: logical devices of each.

    Raises:
      TopologyError: it has not enough devices.
    """
    if replicas < 1 or partitions < 1:
        raise TopologyError(
            "%d replicas of %d logical devices" % (replicas, partitions),
            "a program has at least one of each",
            "positive numbers of both",
        )
    if replicas * partitions > found.devices:
        raise TopologyError(
            "%d replicas x %d logical devices on %s" % (replicas, partitions, found.name),
            "they need %d devices, and it has %d" % (replicas * partitions, found.devices),
            "%d replicas, or a larger slice" % (found.devices // partitions)
            if found.devices >= partitions
            else "fewer logical devices, or a larger slice",
        )
