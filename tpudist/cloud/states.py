"""The states and healths of a Cloud TPU: which pass, what each means, what to type.

Reference: cloud.google.com/tpu/docs/reference/rest/v2/projects.locations.nodes,
State and Health.
"""

from __future__ import annotations

import typing
from typing import TYPE_CHECKING

from tpudist.cloud import deadlines
from tpudist.errors import TPUStateError

if TYPE_CHECKING:
    from tpudist.cloud.nodes import Node

READY, HEALTHY = "READY", "HEALTHY"

#: Healths that nobody has reason to doubt: a reply without one is of a TPU that nobody asked.
SOUND = (HEALTHY, "", "HEALTH_UNSPECIFIED")


class Trouble(typing.NamedTuple):
    """What a state or a health keeps from running.

    Args:
      passes: whether it ends by itself, so that waiting helps.
      why: what it means.
      instead: what to type; has ``{name}``, ``{zone}`` and ``{wait}``.
    """

    passes: bool
    why: str
    instead: str


_WAIT = "wait longer: {wait} in the environment"
_START = "gcloud compute tpus start {name} --zone={zone}, and wait: {wait} in the environment"
_AGAIN = (
    "gcloud compute tpus delete {name} --zone={zone}, make it again, and continue from the "
    "last checkpoint"
)
_RESTART = "gcloud compute tpus stop {name} --zone={zone} && gcloud compute tpus start {name} "
_RESTART += "--zone={zone}"

# fmt: off
STATES = {
    "CREATING": Trouble(True, "it is being made, which takes minutes", _WAIT),
    "STARTING": Trouble(True, "it is starting, which takes minutes", _WAIT),
    "RESTARTING": Trouble(True, "it is restarting, which takes minutes", _WAIT),
    "REPAIRING": Trouble(True, "its hardware is being repaired", _WAIT + "; or make another"),
    "UNHIDING": Trouble(True, "it is coming back from being hidden", _WAIT),
    "STOPPING": Trouble(False, "it is being stopped", _START),
    "STOPPED": Trouble(False, "somebody stopped it, and nothing runs on it", _START),
    "DELETING": Trouble(False, "it is being deleted", "make it again"),
    "PREEMPTED": Trouble(False, "Google took it back; a preempted TPU never comes back", _AGAIN),
    "TERMINATED": Trouble(False, "Google ends a preemptible TPU after 24 hours", _AGAIN),
    "HIDING": Trouble(False, "it is being hidden from its project", "ask who runs the project"),
    "HIDDEN": Trouble(False, "it is hidden from its project", "ask who runs the project"),
}

HEALTHS = {
    "UNHEALTHY": Trouble(True, "its runtime does not work", _RESTART),
    "TIMEOUT": Trouble(True, "its runtime does not answer health checks", _RESTART),
    "UNHEALTHY_TENSORFLOW": Trouble(
        True,
        "its TensorFlow server has crashed or hangs; a program that ran out of memory does that",
        _RESTART + "; then a smaller batch, if it was out of memory",
    ),
    "UNHEALTHY_MAINTENANCE": Trouble(
        True, "it is in maintenance, which no restart shortens", _WAIT + "; or make another"
    ),
}
# fmt: on

_UNKNOWN = Trouble(True, "tpudist knows no such state, only that it is not READY", _WAIT)


def trouble(node: Node) -> Trouble | None:
    """What keeps a TPU from being used, or None.

    Args:
      node: as the TPU API describes it.
    """
    if node.state not in (READY, ""):
        return STATES.get(node.state, _UNKNOWN)
    if node.health not in SOUND:
        return HEALTHS.get(node.health, _UNKNOWN)
    return None


def error(node: Node, waited: float = 0) -> TPUStateError | None:
    """The error of a TPU that cannot be used now, or None.

    Args:
      node: as the TPU API describes it.
      waited: seconds that were spent waiting for it.
    """
    problem = trouble(node)
    if problem is None:
        return None
    seen = "%s is %s" % (node.place, node.state or READY)
    if node.health not in SOUND:
        seen += ", its health %s" % node.health
    if node.description:
        seen += " (%s)" % node.description
    if node.symptoms:
        seen += "; symptoms: " + "; ".join(node.symptoms)
    if waited:
        seen += "; tpudist waited %.3g s" % waited
    return TPUStateError(
        seen,
        problem.why,
        problem.instead.format(
            name=node.name, zone=node.zone or "ZONE", wait=deadlines.TIMEOUT + "=1200"
        ),
    )
