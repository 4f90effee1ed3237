"""Releases that fit together: rows, and the arithmetic that reads them.

The doctor compares distributions with each other, by their metadata. Only
:mod:`tpudist.tfcompat.versions` decides what follows from the TensorFlow that
tpudist runs on.
"""

from __future__ import annotations

import configparser
import os
from typing import TYPE_CHECKING, Iterable, Optional, Tuple

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import InvalidVersion, Version

from tpudist.toolbox import table

if TYPE_CHECKING:
    #: Package, specifier, and why; the last is None if the wheel declares it.
    Need = Tuple[str, str, Optional[str]]


#: The packages for which a TensorFlow wheel's own requirements are checked.
FAMILY = (
    "keras",
    "keras-nightly",
    "tensorflow-estimator",
    "libtpu",
    "protobuf",
    "numpy",
    "h5py",
    "gast",
    "ml-dtypes",
)


def parse(text: str | None) -> Version | None:
    """The ``Version`` that a text says, or None if it says none."""
    try:
        return Version(text or "")
    except InvalidVersion:
        return None


def minor(text: str | None) -> str | None:
    """``"2.8"`` of ``"2.8.4"``; None of a text that is no version."""
    return "%d.%d" % _pair(text) if parse(text) else None


def within(text: str | None, since: str | None, until: str | None) -> bool:
    """Whether a release lies between two minor releases, both included; None leaves a side open."""
    here = _pair(text)
    return (
        bool(here) and (not since or _pair(since) <= here) and (not until or here <= _pair(until))
    )


def _pair(text: str | None) -> tuple[int, ...]:
    version = parse(text)
    return (version.release + (0,))[:2] if version else ()


def fits(text: str | None, specifier: str) -> bool:
    """Whether a version satisfies a specifier such as ``"<3.21"``; pre-releases count."""
    version = parse(text)
    return version is None or SpecifierSet(specifier).contains(version, prereleases=True)


def needs(tensorflow: str, requirements: Iterable[str]) -> list[Need]:
    """[(package, specifier, why), ...] that a TensorFlow release asks of others.

    They are the rows of needs.cfg that apply, then its wheel's own requirements of ``FAMILY``
    under this Python; the latter have ``why`` None.
    """
    version = minor(tensorflow)
    rows: list[Need] = []
    pins = configparser.ConfigParser(interpolation=None)
    with open(os.path.join(os.path.dirname(__file__), "needs.cfg"), encoding="utf-8") as file:
        pins.read_file(file)
    for name in pins.sections():
        package, since, *until = name.split()
        if within(tensorflow, since, until[0] if until else None):
            specifier = pins[name]["specifier"].replace("{minor}", version or "")
            rows.append((package, specifier, pins[name]["why"]))
    declared = [row for text in requirements for row in _declared(text)]
    row = table.on_tpus().get("tpu-%s" % version)
    if row and any(package == "libtpu" for package, _, _ in declared):
        # The wheel for TPUs declares it without an upper bound.
        why = "with another one TensorFlow ends the process while it is imported"
        rows += [(name, bounds, why) for name, bounds, _ in _declared(row.constraints[0])]
    return rows + declared


def _declared(text: str) -> list[Need]:
    """The row of one requirement string, or none."""
    try:
        requirement = Requirement(text)
    except InvalidRequirement:
        return []
    package = requirement.name.lower().replace("_", "-")
    applies = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
    if package not in FAMILY or not applies:
        return []
    return [(package, str(requirement.specifier), None)]
