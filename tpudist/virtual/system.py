"""The described slice: cores, hosts and mesh of a virtual TPU. No TensorFlow.

Figures of the generations: cloud.google.com/tpu/docs (system architecture).
"""

import collections
import re

from tpudist.errors import TPUNameError

#: Environment variable that overrides whatever TPU name a script passes.
ENVIRONMENT = "TPUDIST_TPU"

#: cores_per_chip; whether the number in the name counts cores or chips;
#: cores on one host of a slice that spans several hosts, and the largest
#: slice that is served by one host.
_Generation = collections.namedtuple(
    "_Generation", "cores_per_chip counts_cores cores_per_host single_host"
)
_GENERATIONS = {
    "v2": _Generation(2, True, 8, 8),
    "v3": _Generation(2, True, 8, 8),
    "v4": _Generation(2, True, 8, 8),
    "v5p": _Generation(2, True, 8, 8),
    "v5litepod": _Generation(1, False, 4, 8),
    "v5e": _Generation(1, False, 4, 8),
    "v6e": _Generation(1, False, 4, 8),
}
_LARGEST = 4096


class VirtualSystem(collections.namedtuple("VirtualSystem", "name cores hosts mesh")):
    """A slice that exists in name only.

    Attributes:
      name: the name it was asked for by, e.g. ``"virtual:v3-32"``.
      cores: number of cores in all.
      hosts: number of hosts; each serves ``cores // hosts`` cores.
      mesh: (x, y, z, cores per chip); its product is `cores`.
    """

    __slots__ = ()

    @property
    def cores_per_host(self):
        """Cores that one host serves."""
        return self.cores // self.hosts


def is_virtual(name):
    """Whether a TPU name asks for the virtual TPU."""
    return isinstance(name, str) and (name == "virtual" or name.startswith("virtual:"))


def parse(name):
    """The slice that a name such as ``virtual:8`` describes.

    Args:
      name: ``"virtual"`` (8 cores), ``"virtual:N"`` (N cores on one host) or
        ``"virtual:TYPE-N"`` with an accelerator type such as ``v3-32``.

    Returns:
      A `VirtualSystem`.

    Raises:
      TPUNameError: the name describes no slice.
    """
    _, _, size = name.partition(":")
    if name == "virtual":
        return _plain(name, 8)
    if re.match(r"^[0-9]+$", size):
        return _plain(name, int(size))
    match = re.match(r"^(v[0-9][a-z]*)-([0-9]+)$", size)
    if not match or match.group(1) not in _GENERATIONS:
        raise _unknown(name)
    return _slice(name, _GENERATIONS[match.group(1)], int(match.group(2)))


def _plain(name, cores):
    if not 1 <= cores <= _LARGEST:
        raise _unknown(name)
    per_chip = 2 if cores % 2 == 0 else 1
    return VirtualSystem(name, cores, 1, _mesh(cores // per_chip, per_chip))


def _slice(name, generation, number):
    cores = number if generation.counts_cores else (number * generation.cores_per_chip)
    hosts = 1 if cores <= generation.single_host else (cores // generation.cores_per_host)
    fits = 1 <= cores <= _LARGEST and cores % generation.cores_per_chip == 0 and cores % hosts == 0
    if not fits or number & (number - 1):
        raise _unknown(name)
    chips = cores // generation.cores_per_chip
    return VirtualSystem(name, cores, hosts, _mesh(chips, generation.cores_per_chip))


def _mesh(chips, cores_per_chip):
    """The squarest (x, y, 1, core) mesh of that many chips."""
    y = max(d for d in range(1, int(chips**0.5) + 1) if chips % d == 0)
    return (chips // y, y, 1, cores_per_chip)


def _unknown(name):
    return TPUNameError(
        "TPU name %r" % (name,),
        "no slice has that name; a plain number is a core count from 1 to %d "
        "and a type is one of %s with a power of two" % (_LARGEST, ", ".join(sorted(_GENERATIONS))),
        "'virtual', 'virtual:8' or 'virtual:v3-32'",
    )
