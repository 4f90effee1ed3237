"""The TensorFlow that a TPU's own machines run: it has to be the client's release.

A TPU that is reached over the network runs a TensorFlow server beside it. Its
version can be asked for and set at a port of its own, which is what
``cloud_tpu_client.Client.configure_tpu_version`` does.
"""

from __future__ import annotations

import json
import re
import urllib.request
from typing import TYPE_CHECKING

from tpudist.cloud import deadlines
from tpudist.errors import TPUStateError

if TYPE_CHECKING:
    from tpudist.cloud.nodes import Node

_PORT = 8475

#: The most seconds for a question that many networks do not let through.
_SHORT = 5.0


def release_in(runtime: str | None) -> str | None:
    """``"2.15"`` of ``"tpu-vm-tf-2.15.0-pjrt"``; None if no release is in it."""
    match = re.search(r"(?<![\d.])[12]\.\d+", runtime or "")
    return match and match.group()


def runtime_for(tensorflow: str | None) -> str | None:
    """The version of the TPU runtime for a TensorFlow release: ``x.y.0``."""
    release = release_in(tensorflow)
    return release and release + ".0"


def asked(address: str) -> str | None:
    """The version that the TensorFlow server of a TPU says it has; None if it says nothing.

    Args:
      address: ``"IP:PORT"`` of one of its hosts; the port is not the one asked.
    """
    url = "http://%s:%d/requestversion" % (address.rsplit(":", 1)[0], _PORT)
    limit = min(_SHORT, deadlines.seconds())

    def ask() -> object:
        with urllib.request.urlopen(url, timeout=limit) as reply:
            return json.loads(reply.read().decode("utf-8")).get("currentVersion")

    try:
        version = deadlines.call(ask, limit)
    except (OSError, ValueError, AttributeError, deadlines.TooLate):
        return None  # a firewall, or hosts that have no such port: the API's word counts then
    return version if isinstance(version, str) else None


def refusal(place: str, name: str, runtime: str | None, tensorflow: str) -> TPUStateError | None:
    """The error of a runtime of another minor release, or None; a nightly passes."""
    there, here = release_in(runtime), release_in(tensorflow)
    if there is None or there == here:
        return None
    return TPUStateError(
        "%s runs TensorFlow %s, and this is TensorFlow %s" % (place, runtime, tensorflow),
        "the two talk an unversioned protocol: only equal x.y releases work, others hang",
        "%s; or here: pip install 'tensorflow==%s.*'"
        % (line_that_sets(name, tensorflow, runtime), there),
    )


def line_that_sets(name: str, tensorflow: str | None, runtime: str | None = None) -> str:
    """The command by which a TPU runs a release; the hosts of TPU VMs have images instead."""
    wanted = runtime_for(tensorflow)
    if (runtime or "").startswith("tpu-vm"):
        return "make the TPU again: gcloud compute tpus tpu-vm create %s --version=tpu-vm-tf-%s" % (
            name,
            wanted,
        )
    return (
        "tpudist doctor --tpu %s --configure (or: from cloud_tpu_client import Client; "
        "Client(tpu=%r).configure_tpu_version(%r, restart_type='ifNeeded'))"
    ) % (name, name, wanted)


def of(node: Node) -> str:
    """The version of a TPU's runtime, by its server; the API names the first one for ever."""
    if node.on_its_own_machines or not node.addresses:
        return node.runtime
    return asked(node.addresses[0]) or node.runtime
