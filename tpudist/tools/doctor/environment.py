"""Reads the state of this machine: distributions, variables, chips, whether TensorFlow imports.

Everything the checks know is in one :class:`Environment`, so that a test can
hand them any machine.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from typing import Any, NamedTuple

from tpudist import machine
from tpudist.cloud import places
from tpudist.toolbox import installed

#: Environment variables that decide about TPUs and Keras.
VARIABLES = (
    machine.TPU,
    "TPU_NAME",
    "COLAB_TPU_ADDR",
    "KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS",
    "TPU_ACCELERATOR_TYPE",
    "TPU_WORKER_HOSTNAMES",
    "TPU_LIBRARY_PATH",
    "TPUDIST_LIBTPU",
    machine.LEGACY_KERAS,
)

PROBE_SECONDS = 180


class Environment(NamedTuple):
    """One machine, as data."""

    python: str  # the interpreter's version, e.g. ``"3.12.1"``
    executable: str  # the interpreter's path
    machine: str  # operating system and processor, e.g. ``"Linux x86_64"``
    distributions: dict[str, str]  # {normalized name: version} of everything installed
    requires: dict[str, list[str]]  # {name: [requirement, ...]} of the TensorFlow wheels installed
    variables: dict[str, str]  # {name: value} of the set ones among ``VARIABLES``
    probe: dict[str, Any]  # what :mod:`probe` saw
    chips: list[str]  # the TPU device files, e.g. ``["/dev/accel0"]``

    @property
    def tensorflows(self) -> dict[str, str]:
        """{name: version} of the installed wheels that carry TensorFlow."""
        return {
            name: self.distributions[name]
            for name in machine.TENSORFLOWS
            if name in self.distributions
        }

    @property
    def tensorflow(self) -> str | None:
        """The version that imports, else the one installed, else None."""
        installed = list(self.tensorflows.values())
        return self.probe.get("version") or (installed[0] if installed else None)

    @property
    def variant(self) -> str | None:
        """``"tpu"``, ``"gpu"``, ``"cpu"``, or None without TensorFlow."""
        names = " ".join(self.tensorflows)
        if self.tensorflow is None:
            return None
        if "tpu" in names:
            return "tpu"
        return "gpu" if self.probe.get("cuda") or "gpu" in names else "cpu"

    @property
    def legacy_keras(self) -> bool:
        """Whether TF_USE_LEGACY_KERAS asks for ``tf_keras``."""
        return self.variables.get(machine.LEGACY_KERAS) in machine.YES

    @property
    def virtual_tpu(self) -> str | None:
        """The virtual TPU that TPUDIST_TPU asks for, e.g. ``"virtual:8"``, or None."""
        name = self.variables.get(machine.TPU, "")
        return name if name.lower().startswith("virtual") else None

    @property
    def tpu(self) -> dict[str, Any]:
        """The TPU that a script started here would get, by the environment alone.

        Its ``kind`` is "virtual", "local", "remote" or None; ``name`` is what a resolver takes.
        """
        place = places.of(None, self.variables, self.chips)
        if (place.name or "").lower() == "local" and not self.chips:
            place = places.of(None, {})  # a TPU VM's TPU_NAME, where its chips are not seen
        kind = "remote" if place.name else None
        if self.virtual_tpu or place.name == "local":
            kind = "virtual" if self.virtual_tpu else "local"
        return {
            "kind": kind,
            "name": place.name,
            "source": place.source,
            "words": place.words,
            "chips": self.chips,
            "libtpu": self.distributions.get("libtpu"),
        }


def detect() -> Environment:
    """The :class:`Environment` of this machine; asks no network."""
    distributions, requires = installed.distributions()
    return Environment(
        python=platform.python_version(),
        executable=sys.executable,
        machine="%s %s" % (platform.system(), platform.machine()),
        distributions=distributions,
        requires=requires,
        variables={name: os.environ[name] for name in VARIABLES if name in os.environ},
        probe=probe_tensorflow(on_tpus="tensorflow-tpu" in distributions),
        chips=installed.tpu_chips(),
    )


def probe_tensorflow(seconds: float = PROBE_SECONDS, on_tpus: bool = False) -> dict[str, Any]:
    """Imports TensorFlow in a process of its own, for so many seconds at most.

    With `on_tpus` libtpu is loaded too, as when a program imports TensorFlow. Returns what
    :mod:`probe` prints, or with an ``error`` if that process was killed, hung or printed nothing.
    """
    quiet = dict(installed.quiet_variables(), TPU_SKIP_MDS_QUERY="1")  # asks no network
    if not on_tpus:
        quiet["TPU_LOAD_LIBRARY"] = "0"
    try:
        process = subprocess.run(
            [sys.executable, "-m", "tpudist.tools.doctor.probe"],
            env=quiet,
            capture_output=True,
            text=True,
            timeout=seconds,
        )
    except subprocess.TimeoutExpired:
        return {"error": "import tensorflow took more than %d seconds" % seconds, "slow": True}
    try:
        report: dict[str, Any] = json.loads(process.stdout.strip().splitlines()[-1])
        return report
    except (IndexError, ValueError):
        last = (process.stderr.strip().splitlines() or ["no message"])[-1]
        ended = "import tensorflow ended the process with exit code %d: %s"
        return {"error": ended % (process.returncode, last)}
