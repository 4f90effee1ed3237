"""Which TPU a script started here would get, by the environment alone."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tpudist import machine
from tpudist.doctor import releases

if TYPE_CHECKING:
    from typing import Any

    from tpudist.doctor.environment import Environment


#: Variables that name a TPU on another machine, most specific first.
REMOTE = ("TPU_NAME", "COLAB_TPU_ADDR", "KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS")


def virtual(env: Environment) -> str | None:
    """The virtual TPU that TPUDIST_TPU asks for, e.g. ``"virtual:8"``, or None."""
    name = env.variables.get(machine.TPU, "")
    return name if name.startswith("virtual") else None


def remote(env: Environment) -> str | None:
    """The name or address of a TPU on another machine, or None.

    ``local`` is what Cloud TPU VMs put into TPU_NAME for their own chips.
    """
    names = [env.variables.get(variable) for variable in (machine.TPU,) + REMOTE]
    return next(
        (name for name in names if name and name != "local" and not name.startswith("virtual")),
        None,
    )


def found(env: Environment) -> dict[str, Any]:
    """What a script gets, as a dict.

    Returns:
      ``kind``: ``"virtual"``, ``"local"``, ``"remote"`` or None; ``name``: the
      name to pass to a resolver; ``source``: where that was read; ``chips``:
      device files of this host; ``libtpu``: version of the package, or None.
    """
    kind, name, source = _choice(env)
    return {
        "kind": kind,
        "name": name,
        "source": source,
        "chips": env.chips,
        "libtpu": env.distributions.get("libtpu"),
    }


def _choice(env: Environment) -> tuple[str, str, str] | tuple[None, None, None]:
    name = virtual(env)
    if name:
        return "virtual", name, machine.TPU
    if env.chips:
        return "local", "local", env.chips[0]
    name = remote(env)
    if name:
        return (
            "remote",
            name,
            next(
                variable
                for variable in (machine.TPU,) + REMOTE
                if env.variables.get(variable) == name
            ),
        )
    return None, None, None


def release_in(runtime: str | None) -> str | None:
    """``"2.15"`` of ``"tpu-vm-tf-2.15.0-pjrt"``; None if no release is in it."""
    match = re.search(r"\d+\.\d+", runtime or "")
    return match and match.group()


def runtime_for(tensorflow: str | None) -> str | None:
    """The runtime of a TensorFlow release: patch releases map to ``x.y.0``.

    TPU runtimes are published per minor release; the patch releases of
    TensorFlow mostly have none of their own.
    """
    minor = releases.minor(tensorflow)
    return minor and minor + ".0"
