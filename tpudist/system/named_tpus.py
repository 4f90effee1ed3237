"""Real TPUs behind a resolver: found, healthy, and of this TensorFlow's release before use."""

from __future__ import annotations

import contextlib
import functools
import os
import re
import time
from typing import TYPE_CHECKING, Any, Callable, Iterator, NamedTuple

import tensorflow as tf

from tpudist.cloud import deadlines, failures, nodes, places, runtimes, waiting
from tpudist.errors import TpudistError, TPUNameError, TPUStateError
from tpudist.tfcompat import tpu_client, versions

if TYPE_CHECKING:
    from tpudist.cloud.nodes import Node

#: What errors of a TensorFlow without a TPU name; the second one until 2.1.
_ABSENT = re.compile("ConfigureDistributedTPU|No session factory|TPUs not found in the cluster")

#: The least seconds that the servers of a healthy TPU have to answer.
_LEAST = 5.0


class Found(NamedTuple):
    """A TPU: its name in errors, and ``"IP:PORT"`` of each host (none for this machine's TPU)."""

    place: str
    addresses: tuple[str, ...]


def constructed(
    resolver: Any, start: Callable[[], None], tpu: Any, zone: str | None, project: str | None
) -> None:
    """Runs the native resolver's constructor, `start`, which asks where this machine is.

    Raises:
      TPUNameError: no TPU is named, or there cannot be one of that name.
      TPUAccessError: zone and project are unknown, or Google's client is not there.
    """
    name = places.named(tpu, os.environ)
    if name == "local" and versions.RESOLVER_HAS_CLIENT and not versions.RESOLVER_HAS_METADATA:
        raise _absence()  # 2.2 would ask Google Cloud for a TPU of that name
    if not name:
        return _without_a_name(start)
    misuse: list[TypeError] = []

    def once() -> None:
        try:
            start()
        except TypeError as error:  # arguments that no constructor takes
            misuse.append(error)
        else:
            if tpu_client.asks_the_api(resolver):
                for each in tpu_client.place(resolver):
                    if not re.fullmatch(r"[\w.:-]+", each):  # Another server has answered.
                        raise nodes.Garbled("zone or project %.60r" % each)

    waiting.answered(once, failures.Asked(name, zone or "", project or ""))
    if misuse:
        raise misuse[0]


#: What the clients of the API raise where no TPU is named; AttributeError of a TPU_CONFIG alone.
_OF_CLIENTS = (
    *(ValueError, RuntimeError, ImportError, OSError, AttributeError, TypeError),
    deadlines.TooLate,
)


def _without_a_name(start: Callable[[], None]) -> None:
    try:
        deadlines.call(start, deadlines.seconds())
    except _OF_CLIENTS as error:
        seen, why = places.unnamed(os.environ)
        raise TPUNameError("%s: %s" % (seen, error), why, places.advice(os.environ)) from error


def answer(resolver: object, function: Callable[[], Any]) -> Any:
    """The result of a bound native method that asks the TPU API, once the TPU can be used."""
    asked = _asked(resolver)
    waiting.healthy(functools.partial(tpu_client.fetch, resolver), asked, waits=False)
    try:
        return deadlines.call(function, deadlines.seconds())
    except TpudistError:
        raise
    except RuntimeError as error:
        raise failures.not_ready(error, asked) from error
    except Exception as error:  # of any of the clients
        raise failures.explain(error, asked).error from error


def ready(resolver: object) -> None:
    """Waits until a resolver's TPU is healthy and its servers answer.

    Nothing is asked of the TPU of this machine, nor of resolvers of other kinds.

    Raises:
      TPUStateError: it does not get healthy in time, runs another TensorFlow, or cannot
        be reached.
      TPUAccessError, TPUNameError: it cannot be asked for.
    """
    start, allowed = time.monotonic(), deadlines.seconds()
    found = healthy(resolver)
    left = allowed - (time.monotonic() - start)
    waiting.reach(found.place, found.addresses, max(min(_LEAST, allowed), left))


def healthy(resolver: object) -> Found:
    """Waits until a resolver's TPU is healthy, and refuses a runtime of another release.

    Args, raises: as :func:`ready`, which also reaches it.
    """
    if tpu_client.asks_the_api(resolver):
        node = waiting.healthy(functools.partial(tpu_client.fetch, resolver), _asked(resolver))
        found, runtime = Found(node.place, node.addresses), runtimes.of(node)
    else:
        addresses = tpu_client.endpoints(resolver)
        if not addresses:
            return Found("", ())
        found = Found("the TPU at %s" % addresses[0], tuple(addresses))
        runtime = runtimes.asked(addresses[0]) or ""
    refused = runtimes.refusal(found.place, tpu_client.name(resolver), runtime, str(versions.TF))
    if refused is not None:
        raise refused
    return found


@contextlib.contextmanager
def absence_explained(resolver: object) -> Iterator[None]:
    """Explains the error of TensorFlow that finds no TPU on this machine, inside the block.

    Raises:
      TPUStateError: also an error of TensorFlow's own class, which programs catch.
    """
    try:
        yield
    except tf.errors.OpError as error:
        if tpu_client.name(resolver) not in ("", "local") or not _ABSENT.search(str(error)):
            raise
        kind: Any = type("TPUStateError", (TPUStateError, type(error)), dict(vars(error)))
        raise kind(*_absence().args) from error


def _absence() -> TPUNameError:
    return TPUNameError(
        "tpu='local' with TensorFlow %s" % versions.TF,
        "it finds no TPU: it is built for CPUs and GPUs, or this machine has no TPU",
        "on a TPU VM the TensorFlow of its image, or pip install 'tpudist[tpu]' (tpudist doctor "
        "says which); tpu='virtual:8' where there is no TPU",
    )


def described(resolver: object) -> Node:
    """The TPU API's answer on a resolver's TPU, which can be used; else a TPUStateError at once."""
    fetch = functools.partial(tpu_client.fetch, resolver)
    return waiting.healthy(fetch, _asked(resolver), waits=False)


def configure(resolver: object, node: Node) -> str:
    """Sets the runtime of a TPU to this TensorFlow's release, and waits for it; its version.

    Raises:
      TPUStateError: a TPU VM's image has the runtime, or its servers refuse the version.
    """
    here, version = str(versions.TF), runtimes.runtime_for(str(versions.TF)) or ""
    if node.on_its_own_machines:
        raise TPUStateError(
            "another runtime for %s, which has %s" % (node.place, node.runtime),
            "the image that a TPU VM was made with has the runtime; nothing sets another",
            runtimes.line_that_sets(node.name, here, node.runtime),
        )
    try:
        deadlines.call(
            functools.partial(tpu_client.configure, resolver, version), deadlines.seconds()
        )
    except Exception as error:  # of any of the clients
        raise TPUStateError(
            "the runtime of %s cannot be set to %s: %s" % (node.place, version, error),
            "its servers refuse that version, port 8475 of its hosts is not reached from here, or "
            "the package cloud-tpu-client is missing",
            "pip install cloud-tpu-client, a machine in the TPU's own network; or the TPU made "
            "again with --version=%s" % version,
        ) from error
    end = time.monotonic() + deadlines.seconds()
    while runtimes.asked(node.addresses[0]) not in (None, version) and time.monotonic() < end:
        time.sleep(min(2.0, deadlines.seconds() / 10))
    healthy(resolver)
    return version


def _asked(resolver: object) -> failures.Asked:
    return failures.Asked(tpu_client.name(resolver), *tpu_client.place(resolver))
