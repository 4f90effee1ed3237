"""Reads what the TPU API says of a TPU, and whether its state and health let it be used.

Reference: cloud.google.com/tpu/docs/reference/rest, v1 and v2, projects.locations.nodes, with
State and Health.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tpudist.cloud import deadlines
from tpudist.errors import TPUStateError


class Garbled(ValueError):
    """A reply that is no description of a TPU."""


class Node(NamedTuple):
    """A TPU; a text is empty if the reply has none."""

    name: str  # the short one
    zone: str
    project: str
    state: str  # such as ``"READY"``
    health: str  # such as ``"HEALTHY"``
    description: str  # words on its health
    symptoms: tuple[str, ...]  # one line each, the oldest first
    type: str  # such as ``"v3-8"``
    runtime: str  # its TensorFlow version or runtime's name
    addresses: tuple[str, ...]  # ``"IP:PORT"`` of each host

    @property
    def place(self) -> str:
        """Its name and where it is, as errors have it."""
        where = [self.zone and "zone %s" % self.zone, self.project and "project %s" % self.project]
        known = ", ".join(filter(None, where))
        return "TPU %r%s" % (self.name, " (%s)" % known if known else "")

    @property
    def on_its_own_machines(self) -> bool:
        """Whether users log into its hosts (a TPU VM): their images fix the runtime."""
        return self.runtime.startswith(("tpu-vm", "tpu-ubuntu", "v2-", "v2alpha"))


def parse(reply: object, name: str, zone: str = "", project: str = "") -> Node:
    """The `Node` that a reply describes, the decoded JSON of ``projects.locations.nodes.get``.

    Raises:
      Garbled: it is no object, or its fields have the wrong kinds.
    """
    if not isinstance(reply, dict):
        raise Garbled("the reply is not an object: %.60r" % (reply,))
    if not reply.get("state") and not reply.get("networkEndpoints") and not reply.get("ipAddress"):
        raise Garbled("the reply has neither a state nor an address: %.60r" % (reply,))
    older = [reply] if reply.get("ipAddress") else []  # with one address, and no list of them
    endpoints = reply.get("networkEndpoints") or older
    try:
        return Node(
            name,
            zone,
            project,
            _text(reply, "state"),
            _text(reply, "health"),
            _text(reply, "healthDescription"),
            tuple(map(_symptom, reply.get("symptoms") or ())),
            _text(reply, "acceleratorType"),
            _text(reply, "tensorflowVersion") or _text(reply, "runtimeVersion"),
            tuple("%s:%s" % (each["ipAddress"], each.get("port") or 8470) for each in endpoints),
        )
    except (TypeError, AttributeError, KeyError) as error:
        raise Garbled("the reply is not of the documented form: %s" % error) from error


def _text(reply: dict[str, Any], field: str) -> str:
    value = reply.get(field) or ""
    if not isinstance(value, str):
        raise TypeError("%s is %.40r" % (field, value))
    return value


def _symptom(symptom: dict[str, Any]) -> str:
    parts = [symptom.get("symptomType") or "symptom", symptom.get("details") or ""]
    when, worker = symptom.get("createTime"), symptom.get("workerId")
    where = " ".join(filter(None, (worker and "on worker %s" % worker, when and "at %s" % when)))
    return " ".join(filter(None, (parts[0], where, parts[1] and "(%s)" % parts[1])))


# Whether it can be used.

READY, HEALTHY = "READY", "HEALTHY"

#: Healths that let a TPU be used; a reply may have none.
SOUND = (HEALTHY, "", "HEALTH_UNSPECIFIED")


class Trouble(NamedTuple):
    """Why a TPU whose state or health is not good cannot be used, and what helps."""

    passes: bool  # whether it ends by itself, so that waiting helps
    why: str  # what it means
    instead: str  # what to type; has ``{name}``, ``{zone}`` and ``{wait}``


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
    """The `Trouble` that keeps a TPU from being used, or None."""
    if node.state not in (READY, ""):
        return STATES.get(node.state, _UNKNOWN)
    if node.health not in SOUND:
        return HEALTHS.get(node.health, _UNKNOWN)
    return None


def error(node: Node, problem: Trouble, waited: float) -> TPUStateError:
    """The error of a TPU that cannot be used for some trouble, after seconds of waiting."""
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
