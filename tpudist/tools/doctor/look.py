"""Looks a TPU up by its name, sets its runtime if asked, and prints one line of JSON.

Run as a process (``python -m tpudist.tools.doctor.look NAME``), as TensorFlow's own client
of the TPU API needs TensorFlow. Reports

    node        the fields of `tpudist.cloud.nodes.Node`, or null
    slice       its slice's topology, devices and hosts, or null
    runtime     the version that its TensorFlow servers or the API name, or null
    configured  the version that was set, or null
    error       what keeps it from being used: seen, why, instead; or null
"""

from __future__ import annotations

import argparse
import json
import time
from typing import TYPE_CHECKING, Any, Sequence

from tpudist.cloud import deadlines, nodes, places, runtimes
from tpudist.cloud.nodes import Node
from tpudist.errors import ArgumentError, TpudistError, TPUStateError

if TYPE_CHECKING:
    from tpudist.system.cluster import TPUClusterResolver


def main() -> None:
    """Prints the JSON line."""
    print("\n" + json.dumps(seen(), sort_keys=True))


def seen(arguments: Sequence[str] | None = None) -> dict[str, Any]:
    """Returns the report as a dict; the arguments are the TPU's name, and options."""
    parser = argparse.ArgumentParser()
    parser.add_argument("tpu")
    parser.add_argument("--zone")
    parser.add_argument("--project")
    parser.add_argument("--configure", action="store_true")
    options = parser.parse_args(arguments)
    answers: dict[str, Any] = dict.fromkeys(("node", "slice", "runtime", "configured", "error"))
    try:
        _look(answers, options)
    except TpudistError as error:
        answers["error"] = {"seen": error.seen, "why": error.why, "instead": error.instead}
    return answers


def _look(answers: dict[str, Any], options: argparse.Namespace) -> None:
    from tpudist.system import cluster, named_tpus
    from tpudist.tfcompat import tpu_client

    resolver = cluster.TPUClusterResolver(options.tpu, options.zone, options.project)
    if resolver.system is not None or options.tpu == "local":
        raise ArgumentError(
            "--tpu %s" % options.tpu,
            "it is %s: no API knows it" % places.of(options.tpu, {}).words,
            "tpudist doctor alone, or the name of a TPU of Google Cloud",
        )
    if not tpu_client.asks_the_api(resolver):
        answers["runtime"] = runtimes.asked(tpu_client.endpoints(resolver)[0])
    else:
        node = named_tpus.look(resolver)
        _describe(answers, node)
        error = nodes.error(node)
        if error is not None:
            raise error
    if options.configure:
        answers["configured"] = _configure(resolver, answers)
        answers["runtime"] = answers["configured"] or answers["runtime"]


def _describe(answers: dict[str, Any], node: Node) -> None:
    answers["node"] = node._asdict()
    answers["runtime"] = runtimes.of(node)
    if node.slice is not None:
        answers["slice"] = {
            "name": node.slice.name,
            "devices": node.slice.devices,
            "hosts": node.slice.hosts,
        }


def _configure(resolver: TPUClusterResolver, answers: dict[str, Any]) -> str | None:
    """The version set, once the TPU's servers say that they have it; None if they had it."""
    from tpudist.system import named_tpus
    from tpudist.tfcompat import tpu_client, versions

    here, name = str(versions.TF), tpu_client.name(resolver)
    if runtimes.release_in(answers["runtime"]) == runtimes.release_in(here):
        return None
    node = answers["node"]
    if node and (node["runtime"] or "").startswith("tpu-vm"):
        raise TPUStateError(
            "--configure of TPU %r, whose runtime is %s" % (name, node["runtime"]),
            "the image that a TPU VM was made with has the runtime; nothing sets another",
            runtimes.line_that_sets(name, here, node["runtime"]),
        )
    version = named_tpus.configure(resolver)
    end = time.monotonic() + deadlines.seconds()
    address = node["addresses"][0] if node else tpu_client.endpoints(resolver)[0]
    while runtimes.asked(address) not in (None, version) and time.monotonic() < end:
        time.sleep(min(2.0, deadlines.seconds() / 10))
    named_tpus.healthy(resolver)
    return version


if __name__ == "__main__":
    main()
