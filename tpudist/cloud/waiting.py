"""Waits until the TPU API answers, a TPU is healthy, and its TensorFlow servers answer.

All of it ends in time. TensorFlow itself waits without end for an address that is dead, for a
server that says nothing, and for a proxy of the environment that does not let it through. So gRPC
is asked first whether a server answers.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from typing import TYPE_CHECKING, Any, Callable, Sequence, TypeVar

from tpudist.cloud import deadlines, failures, nodes
from tpudist.errors import TPUAccessError, TPUStateError

if TYPE_CHECKING:
    import grpc

    Result = TypeVar("Result")

    #: Asks once: the reply, decoded.
    Fetch = Callable[[], Any]


#: Seconds between two looks at a TPU that is not healthy yet; less where there is little time.
_INTERVAL = 5.0


def answered(
    ask: Callable[[], Result], asked: failures.Asked, limit: float | None = None
) -> Result:
    """Returns the answer of one of Google's services, asked again where that may help.

    `ask` asks once; `limit` is in seconds, those of TPUDIST_TPU_TIMEOUT if None.

    Raises:
      TPUAccessError, TPUNameError: there is no answer in time.
    """
    end = time.monotonic() + (deadlines.seconds() if limit is None else limit)
    pause, before = 0.25, None
    while True:
        try:
            return deadlines.call(ask, max(0.1, end - time.monotonic()))
        except deadlines.TooLate as error:
            raise (before or failures.explain(error, asked)).error from error
        except Exception as error:  # of any of the clients
            before = failures.explain(error, asked)
            if not before.passes or time.monotonic() + pause > end:
                raise before.error from error
        time.sleep(pause)
        pause *= 2


def healthy(fetch: Fetch, asked: failures.Asked, waits: bool = True) -> nodes.Node:
    """The TPU, once it can be used; a line on standard error says what is waited for.

    Where `waits` is False it raises at once.

    Raises:
      TPUStateError: it cannot be used, and does not become usable in time.
      TPUAccessError, TPUNameError: the API cannot be asked.
    """
    start, allowed = time.monotonic(), deadlines.seconds()
    interval, said, before = min(_INTERVAL, allowed / 10), "", None
    while True:
        try:
            left = max(0.1, start + allowed - time.monotonic())
            node = answered(lambda: nodes.parse(fetch(), *asked), asked, left)
        except TPUAccessError:
            if before is None or time.monotonic() - start < allowed:
                raise
            node = before  # the time ended in a question: what was seen before it is reported
        before = node
        trouble, spent = nodes.trouble(node), time.monotonic() - start
        if trouble is None:
            if said:
                say("%s is ready after %.0f s" % (node.place, spent))
            return node
        if not waits or not trouble.passes or spent + interval > allowed:
            raise nodes.error(node, trouble, spent if said else 0)
        line = " ".join(filter(None, (node.state, node.health)))
        if line != said or interval == _INTERVAL:
            say("%s is %s; waiting (%.0f s of %.3g s)" % (node.place, line, spent, allowed))
        said = line
        time.sleep(interval)


def say(line: str) -> None:
    """Prints a line on what is waited for."""
    print("tpudist: " + line, file=sys.stderr)
    sys.stderr.flush()


_PORT = 8470

#: The most seconds of one attempt, and those between two.
_ATTEMPT, _PAUSE = 3.0, 0.5

#: Variables of a proxy, and of the hosts it is not for, in the order that gRPC reads them.
_PROXIES = ("grpc_proxy", "https_proxy", "http_proxy")
_WITHOUT = ("no_grpc_proxy", "no_proxy")


def reach(place: str, addresses: Sequence[str], limit: float) -> None:
    """Waits until the servers at all addresses answer; a line says what is waited for.

    Raises:
      TPUStateError: one does not within `limit` seconds.
    """
    start, is_told = time.monotonic(), False
    hosts = list(dict.fromkeys(map(_host, addresses)))
    silent = dict.fromkeys(hosts, "")
    while silent:
        left = start + limit - time.monotonic()
        silent = _silent(list(silent), max(0.1, min(_ATTEMPT, 0.8 * left)))
        if not silent:
            return
        first, said = next(iter(silent.items()))
        count = " (%d of %d hosts are so)" % (len(silent), len(hosts)) if len(hosts) > 1 else ""
        seen = "%s: no TensorFlow server at %s: %s%s" % (place, first, said, count)
        left = start + limit - time.monotonic()
        if left < _PAUSE:
            raise _error(seen, list(silent), limit)
        if not is_told and limit - left >= _ATTEMPT:
            say("%s; waiting (%.3g s)" % (seen, limit))
            is_told = True
        time.sleep(_PAUSE)


def _error(seen: str, silent: Sequence[str], limit: float) -> TPUStateError:
    name, _, port = silent[0].rpartition(":")
    instead = "a machine in the TPU's own network, whose firewall lets port %s through" % port
    variable = _proxy(name)
    if variable:
        names = ",".join(each.rpartition(":")[0] for each in silent)
        instead = "without the proxy of %s: no_proxy=%s in the environment" % (variable, names)
    return TPUStateError(
        "%s; tpudist waited %.3g s" % (seen, limit),
        "no gRPC server answers there, and TensorFlow would wait for one without end",
        "%s; or more time: %s=120" % (instead, deadlines.TIMEOUT),
    )


def _host(address: str) -> str:
    """``"NAME:PORT"`` of an address that may have no port; IPv6 in brackets."""
    name, colon, port = address.rpartition(":")
    if not colon or not port.isdigit() or (":" in name and not name.endswith("]")):
        name, port = address, str(_PORT)
    name = name.strip("[]")
    return "%s:%s" % ("[%s]" % name if ":" in name else name, port)


def _silent(hosts: Sequence[str], limit: float) -> dict[str, str]:
    """{host: gRPC's error} of the hosts that do not answer in time; none without gRPC's package."""
    try:
        import grpc
    except ImportError:
        return {}
    options = [("grpc.use_local_subchannel_pool", 1)]  # a new connection for each attempt
    with contextlib.ExitStack() as stack:
        calls = {}
        for host in hosts:
            channel = stack.enter_context(grpc.insecure_channel(host, options))
            calls[host] = channel.unary_unary("/tpudist/Greeting").future(b"", timeout=limit)
        errors = {host: call.exception() for host, call in calls.items()}
    return {host: _said(error) for host, error in errors.items() if not _is_answer(error)}


def _is_answer(error: grpc.RpcError | None) -> bool:
    """Whether the error of a method that no server has is that of a gRPC server."""
    is_page = error is not None and "http2 header" in (error.details() or "")
    return error is None or error.code().name == "UNIMPLEMENTED" and not is_page


def _said(error: grpc.RpcError) -> str:
    if error.code().name == "DEADLINE_EXCEEDED":
        return "no answer (a firewall may drop what is sent, or the server hangs)"
    return str(error.details()).rpartition("last error: ")[2]


def _proxy(name: str) -> str:
    """The variable of the proxy that gRPC reaches a host through, or ""."""
    exempt = next(filter(None, map(os.environ.get, _WITHOUT)), "")
    if any(name.endswith(each.strip()) for each in exempt.split(",") if each.strip()):
        return ""
    return next((each for each in _PROXIES if os.environ.get(each)), "")
