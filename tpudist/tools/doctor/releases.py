"""Releases that fit together: rows, and the arithmetic that reads them.

The doctor compares distributions with each other, by their metadata. Only
:mod:`tpudist.tfcompat.versions` decides what follows from the TensorFlow that
tpudist runs on.
"""

from __future__ import annotations

import collections
from typing import TYPE_CHECKING, Iterable, Optional, Tuple

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import InvalidVersion, Version

from tpudist.toolbox import table

if TYPE_CHECKING:
    #: Package, specifier, and why; the last is None if the wheel declares it.
    Need = Tuple[str, str, Optional[str]]


#: TensorFlow ``since`` to ``until`` (minor releases, inclusive; None: open)
#: needs ``package`` at ``specifier``, where ``{minor}`` is TensorFlow's own.
#: The wheels' metadata says less than this (no upper bounds) or was overruled.
Pin = collections.namedtuple("Pin", "package since until specifier why")

#: Each ``why`` was reproduced with the releases it names where they could be
#: installed; the others are a wheel's own requirement or the table in ``compat/``.
PINS = (
    Pin(
        "tensorflow-estimator",
        "1.13",
        "2.15",
        "=={minor}.*",
        "an Estimator of another release calls strategy methods that this one "
        "does not have ('OneDeviceStrategy' object has no attribute "
        "'call_for_each_tower')",
    ),
    Pin(
        "keras",
        "2.6",
        "2.15",
        "=={minor}.*",
        "tf.keras is this package, and every TensorFlow up to 2.15 takes its "
        "own release only ('Keras cannot be imported')",
    ),
    Pin("keras", "2.16", None, ">=3.0", "tf.keras is Keras 3 from TensorFlow 2.16 on"),
    Pin("tf-keras", "2.15", None, "=={minor}.*", "tf_keras follows TensorFlow release by release"),
    Pin(
        "protobuf",
        "1.13",
        "2.11",
        "<3.21",
        "protobuf 4 and newer refuse its generated code ('Descriptors cannot be created directly')",
    ),
    Pin(
        "protobuf",
        "2.20",
        "2.20",
        "<7",
        "tf.io.write_graph fails (MessageToString() got an unexpected keyword argument "
        "'float_format')",
    ),
    Pin(
        "numpy",
        "1.13",
        "2.4",
        "<1.20",
        "its RNN layers fail ('Cannot convert a symbolic Tensor to a numpy "
        "array'), and from numpy 1.24 on it does not import (np.object)",
    ),
    Pin(
        "numpy",
        "2.5",
        "2.17",
        "<2",
        "it was built for numpy 1 ('numpy.core.umath failed to import')",
    ),
    Pin(
        "h5py",
        "1.13",
        "2.4",
        "<3",
        "load_model of an .h5 file fails ('str' object has no attribute 'decode')",
    ),
    Pin(
        "gast",
        "1.14",
        "2.1",
        "==0.2.2",
        "AutoGraph stops converting, without an error of its own (tf.range loops raise)",
    ),
    Pin(
        "gast",
        "2.2",
        "2.4",
        "==0.3.3",
        "AutoGraph stops converting, without an error of its own ('iterating "
        "over `tf.Tensor` is not allowed')",
    ),
)

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

    They are the rows of ``PINS`` that apply, then its wheel's own requirements of ``FAMILY``
    under this Python; the latter have ``why`` None.
    """
    rows: list[Need] = [
        (pin.package, pin.specifier.format(minor=minor(tensorflow)), pin.why)
        for pin in PINS
        if within(tensorflow, pin.since, pin.until)
    ]
    declared = [row for text in requirements for row in _declared(text)]
    if any(package == "libtpu" for package, _, _ in declared):
        rows += _libtpu(tensorflow)
    return rows + declared


def _libtpu(tensorflow: str) -> list[Need]:
    """The row of libtpu, which a wheel for TPUs declares without an upper bound, or none."""
    row = table.on_tpus().get("tpu-%s" % minor(tensorflow))
    why = "with another one TensorFlow ends the process while it is imported"
    return [(name, bounds, why) for name, bounds, _ in _declared(row.constraints[0])] if row else []


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
