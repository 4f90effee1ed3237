"""Which TPU a script started here would get, by the environment alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpudist import machine
from tpudist.cloud import places

if TYPE_CHECKING:
    from typing import Any

    from tpudist.tools.doctor.environment import Environment


def virtual(env: Environment) -> str | None:
    """The virtual TPU that TPUDIST_TPU asks for, e.g. ``"virtual:8"``, or None."""
    name = env.variables.get(machine.TPU, "")
    return name if name.startswith("virtual") else None


def remote(env: Environment) -> str | None:
    """The name or address of a TPU on another machine, or None.

    ``local`` is what Cloud TPU VMs put into TPU_NAME for their own chips.
    """
    names = [env.variables.get(variable) for variable in (machine.TPU,) + places.REMOTE]
    return next(
        (name for name in names if name and name != "local" and not name.startswith("virtual")),
        None,
    )


def found(env: Environment) -> dict[str, Any]:
    """What a script gets, as a dict.

    Returns:
      ``kind``: ``"virtual"``, ``"local"``, ``"remote"`` or None; ``name``: the
      name to pass to a resolver; ``source``: where that was read; ``words``: what
      it is; ``chips``: device files of this host; ``libtpu``: version of the
      package, or None; ``looked``: what the TPU asked for by ``--tpu`` says.
    """
    kind, name, source = _choice(env)
    return {
        "kind": kind,
        "name": name,
        "source": source,
        "words": places.of(name, env.variables, env.chips).words,
        "looked": env.looked,
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
                for variable in (machine.TPU,) + places.REMOTE
                if env.variables.get(variable) == name
            ),
        )
    return None, None, None
