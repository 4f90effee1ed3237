"""Waits until the TPU API answers, a TPU is healthy, and its TensorFlow servers greet.

All of it ends in time. TensorFlow itself waits without end for an address that is dead, for a
server that says nothing, and for a proxy of the environment that does not let it through. A gRPC
server greets with a frame of HTTP/2 settings; what does not greet so is not handed to TensorFlow.
"""

from __future__ import annotations

import os
import socket
import sys
import threading
import time
from typing import TYPE_CHECKING, Any, Callable, NamedTuple, Sequence, TypeVar

from tpudist.cloud import deadlines, failures, nodes
from tpudist.errors import TPUAccessError, TPUStateError

if TYPE_CHECKING:
    Result = TypeVar("Result")

    #: Asks once: the reply, decoded.
    Fetch = Callable[[], Any]


#: Seconds between two looks at a TPU that is not healthy yet; less where there is little time.
_INTERVAL = 5.0


def look(fetch: Fetch, asked: failures.Asked, limit: float | None = None) -> nodes.Node:
    """What the TPU API says of a TPU; what may pass is asked again.

    Args:
      fetch: asks once.
      asked: which TPU that is.
      limit: seconds; what TPUDIST_TPU_TIMEOUT allows if None.

    Raises:
      TPUAccessError, TPUNameError: it does not say anything in time.
    """
    return answered(lambda: nodes.parse(fetch(), *asked), asked, limit)


def answered(
    ask: Callable[[], Result], asked: failures.Asked, limit: float | None = None
) -> Result:
    """What one of Google's services answers; it is asked again where that may help.

    Args, raises: as for :func:`look`; `ask` asks once, and returns what was answered.
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
    """The TPU, once it can be used; a line on standard error tells what is waited for.

    Args:
      fetch, asked: as for :func:`look`.
      waits: False raises at once where waiting might help.

    Raises:
      TPUStateError: it cannot be used, and does not become usable in time.
      TPUAccessError, TPUNameError: the API cannot be asked.
    """
    start, allowed = time.monotonic(), deadlines.seconds()
    interval, said, before = min(_INTERVAL, allowed / 10), "", None
    while True:
        try:
            node = look(fetch, asked, max(0.1, start + allowed - time.monotonic()))
        except TPUAccessError:
            if before is None or time.monotonic() - start < allowed:
                raise
            node = before  # the time ended in a question: what was seen before it is told
        before = node
        trouble, spent = nodes.trouble(node), time.monotonic() - start
        if trouble is None:
            if said:
                say("%s is ready after %.0f s" % (node.place, spent))
            return node
        if not waits or not trouble.passes or spent + interval > allowed:
            error = nodes.error(node, spent if said else 0)
            assert error is not None
            raise error
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

#: The most seconds of one attempt, those between two, and until a line tells of it.
_ATTEMPT, _PAUSE, _QUIET = 5.0, 0.5, 3.0

#: What a client of HTTP/2 says first: the preface, and a frame of no settings.
_GREETING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\4\0\0\0\0\0"
_FRAME, _TYPE, _SETTINGS = 9, 3, 4

#: Variables of a proxy, and of the hosts it is not for, in the order that gRPC reads them.
_PROXIES = ("grpc_proxy", "https_proxy", "http_proxy")
_WITHOUT = ("no_grpc_proxy", "no_proxy")


class Host(NamedTuple):
    """Where a server is: a name or IP, and a port."""

    name: str
    port: int


class _Silent(Exception):
    """A server does not greet; its text says what it does, its `why` what that means."""

    def __init__(self, seen: str, why: str) -> None:
        super().__init__(seen, why)
        self.seen, self.why = seen, why


def reach(place: str, addresses: Sequence[str], limit: float) -> None:
    """Waits until the servers of all hosts greet; a line tells what is waited for.

    Args:
      place: the TPU, as errors have it.
      addresses: ``"IP:PORT"`` of each host; none of a TPU of this machine.
      limit: seconds.

    Raises:
      TPUStateError: one does not in time.
    """
    end = time.monotonic() + limit
    hosts = list(dict.fromkeys(map(_host, addresses)))
    silent: dict[Host, _Silent] = {host: _Silent("no answer", _NOBODY) for host in hosts}
    threads = [
        threading.Thread(target=_ask, args=(host, end, silent), daemon=True) for host in hosts
    ]
    for thread in threads:
        thread.start()
    for until in (min(end, time.monotonic() + _QUIET), end):
        for thread in threads:
            thread.join(max(0.0, until - time.monotonic()))
        missing = dict(silent)
        if missing and until < end:
            say("%s: %s; waiting (%.3g s)" % (place, _seen(missing, len(hosts)), limit))
    if missing:
        raise _error("%s: %s" % (place, _seen(missing, len(hosts))), missing, limit)


def _seen(silent: dict[Host, _Silent], hosts: int) -> str:
    host, first = next(iter(silent.items()))
    count = " (%d of %d hosts are so)" % (len(silent), hosts) if hosts > 1 else ""
    return "no TensorFlow server at %s:%d: %s%s" % (host.name, host.port, first.seen, count)


def _error(seen: str, silent: dict[Host, _Silent], limit: float) -> TPUStateError:
    host, first = next(iter(silent.items()))
    instead = "a machine in the TPU's own network, whose firewall lets port %d through" % host.port
    variable = _proxy(host.name)
    if variable:
        names = ",".join(each.name for each in silent)
        instead = "without the proxy of %s: no_proxy=%s in the environment" % (variable, names)
    return TPUStateError(
        "%s; tpudist waited %.3g s" % (seen, limit),
        first.why + ", and TensorFlow would wait for it without end",
        "%s; or more time: %s=120" % (instead, deadlines.TIMEOUT),
    )


def _host(address: str) -> Host:
    """The host of ``"IP:PORT"``, ``"IP"`` or ``"[IPv6]:PORT"``."""
    name, colon, port = address.rpartition(":")
    if not colon or not port.isdigit() or (":" in name and not name.endswith("]")):
        name, port = address, str(_PORT)
    return Host(name.strip("[]"), int(port))


def _ask(host: Host, end: float, silent: dict[Host, _Silent]) -> None:
    """Asks a host until it greets, which removes it from `silent`, or until `end`."""
    while True:
        try:
            _greet(host, max(0.1, min(_ATTEMPT, 0.8 * (end - time.monotonic()))))
        except _Silent as error:
            silent[host] = error
        else:
            del silent[host]
            return
        if time.monotonic() + _PAUSE > end:
            return
        time.sleep(_PAUSE)


_NOBODY = "no machine answers there, or a firewall drops what is sent to it"


def _greet(host: Host, limit: float) -> None:
    """Greets a server once; raises `_Silent` if it does not greet in turn."""
    variable = _proxy(host.name)
    try:
        connection = _opened(host, variable, limit)
    except socket.timeout as error:
        raise _Silent("no answer", _NOBODY) from error
    except socket.gaierror as error:
        raise _Silent(str(error), "no machine has that name") from error
    except ConnectionRefusedError as error:
        raise _Silent(str(error), "its host refuses: nothing listens on that port") from error
    except OSError as error:
        raise _Silent(str(error), "it cannot be reached from here") from error
    try:
        with connection:
            connection.sendall(_GREETING)
            reply = _read(connection, _FRAME)
    except OSError as error:
        raise _Silent("a connection, and then: %s" % error, "its server hangs") from error
    if len(reply) < _FRAME or reply[_TYPE] != _SETTINGS:
        raise _Silent("it answers %.40r" % reply, "what listens there is no gRPC server")


def _read(connection: socket.socket, size: int) -> bytes:
    received = b""
    while len(received) < size:
        more = connection.recv(size - len(received))
        if not more:
            break
        received += more
    return received


def _opened(host: Host, variable: str, limit: float) -> socket.socket:
    """A connection to a host, through the proxy of a variable if there is one."""
    if not variable:
        return socket.create_connection(host, limit)
    proxy = _host(os.environ[variable].split("://")[-1].rstrip("/").rpartition("@")[2])
    connection = socket.create_connection(proxy, limit)
    connection.sendall(("CONNECT %s:%d HTTP/1.1\r\n\r\n" % host).encode())
    said = b""
    while not said.endswith(b"\r\n\r\n"):
        more = connection.recv(1)
        if not more:
            break
        said += more
    line = said.partition(b"\r\n")[0].decode("latin-1")
    if " 200" not in line:
        connection.close()
        raise _Silent(
            "the proxy of %s answers %r" % (variable, line), "gRPC goes through that proxy"
        )
    return connection


def _proxy(name: str) -> str:
    """The variable of the proxy that gRPC reaches a host through, or ""."""
    exempt = next(filter(None, map(os.environ.get, _WITHOUT)), "")
    if any(name.endswith(each.strip()) for each in exempt.split(",") if each.strip()):
        return ""
    return next((each for each in _PROXIES if os.environ.get(each)), "")
