"""What the TPU API says of a TPU, from replies of its versions 1 and 2.

Reference: cloud.google.com/tpu/docs/reference/rest, v1 and v2,
projects.locations.nodes.
"""

from __future__ import annotations

import typing
from typing import TYPE_CHECKING

from tpudist.errors import TopologyError
from tpudist.surfaces import slices

if TYPE_CHECKING:
    from typing import Any


class Garbled(ValueError):
    """A reply that is no description of a TPU."""


class Node(typing.NamedTuple):
    """A TPU.

    Args:
      name: its short name.
      zone, project: where it is; empty if not known.
      state: such as ``"READY"``; empty if the reply has none.
      health: such as ``"HEALTHY"``; empty if the reply has none.
      description: words on its health.
      symptoms: one line each, the oldest first.
      type: such as ``"v3-8"``.
      runtime: its TensorFlow version or runtime's name; empty if the reply has none.
      addresses: ``"IP:PORT"`` of each host.
    """

    name: str
    zone: str
    project: str
    state: str
    health: str
    description: str
    symptoms: tuple[str, ...]
    type: str
    runtime: str
    addresses: tuple[str, ...]

    @property
    def place(self) -> str:
        """Its name and where it is, as errors have it."""
        where = [self.zone and "zone %s" % self.zone, self.project and "project %s" % self.project]
        known = ", ".join(filter(None, where))
        return "TPU %r%s" % (self.name, " (%s)" % known if known else "")

    @property
    def slice(self) -> slices.Slice | None:
        """The slice of its type, from the one table; None of an unknown type."""
        try:
            return slices.find(self.type)
        except TopologyError:
            return None

    @property
    def on_its_own_machines(self) -> bool:
        """Whether users log into its hosts (a TPU VM): their images fix the runtime."""
        return self.runtime.startswith(("tpu-vm", "tpu-ubuntu", "v2-", "v2alpha"))


def parse(reply: Any, name: str, zone: str = "", project: str = "") -> Node:
    """The `Node` that a reply describes.

    Args:
      reply: the decoded JSON of ``projects.locations.nodes.get``.
      name, zone, project: of the TPU that was asked for.

    Raises:
      Garbled: it is no object, or its fields have the wrong kinds.
    """
    if not isinstance(reply, dict):
        raise Garbled("the reply is not an object: %.60r" % (reply,))
    if not reply.get("state") and not reply.get("networkEndpoints") and not reply.get("ipAddress"):
        raise Garbled("the reply has neither a state nor an address: %.60r" % (reply,))
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
            tuple(map(_address, reply.get("networkEndpoints") or _one(reply))),
        )
    except (TypeError, AttributeError, KeyError) as error:
        raise Garbled("the reply is not of the documented form: %s" % error) from error


def _text(reply: dict[str, Any], field: str) -> str:
    value = reply.get(field) or ""
    if not isinstance(value, str):
        raise TypeError("%s is %.40r" % (field, value))
    return value


def _one(reply: dict[str, Any]) -> list[dict[str, Any]]:
    """The endpoint of a reply of before there were several."""
    return [reply] if reply.get("ipAddress") else []


def _address(endpoint: dict[str, Any]) -> str:
    return "%s:%s" % (endpoint["ipAddress"], endpoint.get("port") or 8470)


def _symptom(symptom: dict[str, Any]) -> str:
    parts = [symptom.get("symptomType") or "symptom", symptom.get("details") or ""]
    when, worker = symptom.get("createTime"), symptom.get("workerId")
    where = " ".join(filter(None, (worker and "on worker %s" % worker, when and "at %s" % when)))
    return " ".join(filter(None, (parts[0], where, parts[1] and "(%s)" % parts[1])))
