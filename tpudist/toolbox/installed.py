"""Lists the distributions and TPU chips of this machine; no TensorFlow is imported."""

from __future__ import annotations

import email.parser
import glob
import os
import re
import sys
from email.message import Message
from typing import Iterator

from tpudist import machine


def normalize(name: str) -> str:
    """A distribution's name as package indexes spell it: ``tf_keras`` -> ``tf-keras``."""
    return re.sub(r"[-_.]+", "-", name).lower()


def distributions() -> tuple[dict[str, str], dict[str, list[str]]]:
    """({name: version}, {TensorFlow wheel: [requirement, ...]}) on ``sys.path``.

    Read from the metadata files themselves: Python 3.7 has no
    ``importlib.metadata``, and a half-removed distribution must not stop the
    doctor. The first of two distributions of one name counts, as for an import.
    """
    versions: dict[str, str] = {}
    requires: dict[str, list[str]] = {}
    for fields in _metadata():
        name = normalize(fields.get("Name") or "")
        if not name or not fields.get("Version") or name in versions:
            continue
        versions[name] = fields["Version"]
        if name in machine.TENSORFLOWS:
            requires[name] = fields.get_all("Requires-Dist") or []
    return versions, requires


def _metadata() -> Iterator[Message]:
    """The headers of every distribution's metadata, in the order of ``sys.path``."""
    for folder in sys.path:
        for pattern in ("*.dist-info/METADATA", "*.egg-info/PKG-INFO", "*.egg-info"):
            for path in sorted(glob.glob(os.path.join(glob.escape(folder), pattern))):
                if os.path.isfile(path):
                    with open(path, encoding="utf-8", errors="replace") as file:
                        yield email.parser.HeaderParser().parse(file)


def tpu_chips() -> list[str]:
    """Returns the device files of the TPU chips of this host, such as ``/dev/accel0``."""
    chips = sorted(glob.glob("/dev/accel[0-9]*"))  # ``/dev/accel/accel0`` is none
    for vendor in () if chips else glob.glob("/sys/bus/pci/devices/*/vendor"):
        with open(vendor) as file:
            if file.read().strip() == "0x1ae0":  # Google
                return sorted(glob.glob("/dev/vfio/[0-9]*"))
    return chips


def quiet_variables() -> dict[str, str]:
    """The variables of a process that imports tpudist and TensorFlow, and says little."""
    package = os.path.dirname(machine.PACKAGE)
    quiet = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3", PYTHONWARNINGS="ignore")
    quiet["PYTHONPATH"] = os.pathsep.join(
        path for path in (quiet.get("PYTHONPATH"), package) if path
    )
    return quiet
