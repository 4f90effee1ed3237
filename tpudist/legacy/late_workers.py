"""A process that says which workers of a cluster have not come: ``SECONDS ADDRESS...``.

Its input ends when they all have, or when the worker that started it has gone.
"""

from __future__ import annotations

import socket
import sys
import threading

from tpudist.errors import TopologyError


def main(seconds: str, *addresses: str) -> None:
    """Waits for the end of the input; after `seconds` says whom TensorFlow is waiting for."""
    reader = threading.Thread(target=sys.stdin.read, daemon=True)
    reader.start()
    reader.join(float(seconds))
    if not reader.is_alive():
        return
    missing = [address for address in addresses if not _answers(address)]
    error = TopologyError(
        "no answer of %s in %.0f seconds" % (" and ".join(missing) or "a worker", float(seconds)),
        "every worker of the cluster has to start, at the address that TF_CONFIG has for it",
        "the command on that machine too, or its host's right name in --hosts; --start-timeout N "
        "of tpudist launch waits longer",
    )
    print("tpudist run: %s" % error, file=sys.stderr, flush=True)


def _answers(address: str) -> bool:
    """Whether something listens at an address."""
    host, _, port = address.rpartition(":")
    try:
        with socket.create_connection((host, int(port)), 2.0):
            return True
    except (OSError, ValueError):
        return False


if __name__ == "__main__":
    main(*sys.argv[1:])
