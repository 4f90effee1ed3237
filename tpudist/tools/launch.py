"""``tpudist launch``: starts one program on several hosts, each of which is a worker of a cluster.

A worker is ``tpudist run --tpu cluster:...``, with the variable TF_CONFIG that TensorFlow's
cluster resolver reads. No TensorFlow here.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import socket
import subprocess
import sys
import threading
import time
from typing import IO, TYPE_CHECKING, Sequence

from tpudist import machine
from tpudist.errors import ArgumentError
from tpudist.virtual import system

if TYPE_CHECKING:
    _Verbs = argparse._SubParsersAction[argparse.ArgumentParser]

#: The port of each worker on a host of its own.
_PORT = 2222

#: How the names of environment variables begin that workers on other hosts get too.
_CARRIED = ("TPUDIST_", "TF_", "PYTHONPATH")

#: Seconds that the other workers have to end, once one has failed.
_PATIENCE = 5.0

_LOCAL = ("localhost", "127.0.0.1")


def add(verbs: _Verbs) -> argparse.ArgumentParser:
    """Adds the verb and its options."""
    verb = verbs.add_parser(
        "launch",
        help="run a legacy script on several hosts at once",
        allow_abbrev=False,
        usage="tpudist launch --hosts a,b [--cores virtual:N|N|gpus|gpus:N] [--port N] "
        "[--quiet-workers] -- [options of tpudist run] script.py [args...]",
        description="Starts the script on each host, as tpudist run --tpu cluster does: by ssh, "
        "in this folder and with this Python, which has to be there too; a process here for each "
        "'localhost'. If one fails, the others are ended. Exit code: that of the first failure.",
    )
    verb.add_argument(
        "--hosts", metavar="LIST", help="names with commas between; the first is chief"
    )
    verb.add_argument(
        "--cores",
        metavar="N",
        help="cores of each host: virtual:8, computed together on one device; virtual:v3-32, those "
        "of a slice of so many hosts; 4 or cpus:4, logical CPUs; gpus:4; by default every GPU",
    )
    verb.add_argument(
        "--port",
        type=int,
        metavar="N",
        help="of the first worker, the next has N + 1; by default "
        "2222, and for localhost a free one",
    )
    verb.add_argument(
        "--quiet-workers", action="store_true", help="show the output of the chief alone"
    )
    return verb


def split(argv: list[str], verb: argparse.ArgumentParser) -> tuple[list[str], list[str]]:
    """(tpudist's words, those of the command that it runs), which "--" takes apart."""
    if "--" not in argv:
        return argv, []
    index = argv.index("--")
    return argv[:index], argv[index + 1 :]


class Worker:
    """A process of the program, and the threads that pass its output on.

    Args:
      index: 0, the chief, whose output is passed on as it is; or more: each line gets a prefix.
        A terminal is the chief's own, for its bars.
      variables: its environment; None for this process'.
      quiet: whether only the chief's output is shown.
    """

    def __init__(
        self, index: int, command: list[str], variables: dict[str, str] | None, quiet: bool
    ) -> None:
        if not index and sys.stdout.isatty():  # else lines of several workers could mix
            self.process = subprocess.Popen(command, env=variables, stdin=subprocess.DEVNULL)
            self._threads: list[threading.Thread] = []
            return
        how = subprocess.DEVNULL if index and quiet else subprocess.PIPE
        prefix = "[worker %d] " % index if index else ""
        self.process = subprocess.Popen(
            command, env=variables, stdin=subprocess.DEVNULL, stdout=how, stderr=how
        )
        shown = [(self.process.stdout, sys.stdout), (self.process.stderr, sys.stderr)]
        self._threads = [
            threading.Thread(target=_pass_on, args=(prefix, lines, to), daemon=True)
            for lines, to in shown
            if lines is not None
        ]
        for thread in self._threads:
            thread.start()

    def end(self, patience: float) -> None:
        """Ends the process, if it does not end by itself within `patience` seconds."""
        for stop in (self.process.terminate, self.process.kill):
            try:
                self.process.wait(patience)
                break
            except subprocess.TimeoutExpired:
                stop()
        self.process.wait()
        for thread in self._threads:
            thread.join(_PATIENCE)


def _pass_on(prefix: str, lines: IO[bytes], to: IO[str]) -> None:
    for line in lines:
        to.write(prefix + line.decode("utf-8", "replace").rstrip("\r\n") + "\n")
        to.flush()


def run(options: argparse.Namespace) -> int:
    """Starts the workers, and waits until all have ended or one has failed.

    Args:
      options: parsed ``hosts`` (names with commas between), ``cores``, ``port`` (or None) and
        ``quiet_workers``, and ``arguments``: what ``tpudist run`` gets.

    Returns:
      0, or the exit code of the worker that failed first; 128 and the signal's number if a
      signal ended it.

    Raises:
      ArgumentError: there is no host or no script.
      TPUNameError: the cores are none.
    """
    hosts = [host for host in (options.hosts or "").split(",") if host]
    if not hosts or not options.arguments:
        raise ArgumentError(
            "no host" if not hosts else "no script",
            "each host of --hosts runs the script that stands behind --",
            "tpudist launch --hosts localhost,localhost --cores 4 -- train.py",
        )
    tpu = _tpu(options.cores)
    command = ["tpudist", "run", "--tpu", tpu, *options.arguments]
    workers = []
    try:
        for index, config in enumerate(configurations(hosts, options.port)):
            own, variables = _command(hosts[index], command, config)
            workers.append(Worker(index, own, variables, options.quiet_workers))
        return _wait(workers)
    except KeyboardInterrupt:  # which local workers have got as well
        return 130
    finally:
        for worker in workers:
            worker.end(_PATIENCE)


def _tpu(cores: str | None) -> str:
    """The TPU's name of ``--cores``: "4" is cpus:4; every GPU of a host if it is left out."""
    name = "cluster"
    if cores:
        name += ":cpus:" + cores if cores.isdigit() else ":" + cores
    system.parse(name)
    return name


def configurations(hosts: Sequence[str], port: int | None) -> list[str]:
    """Returns what TF_CONFIG is on each worker, in the order of the hosts.

    `port` is that of the first; None for any that is free on localhost.
    """
    addresses = []
    sockets = []
    for index, host in enumerate(hosts):
        own = (port or _PORT) + index
        if port is None and host in _LOCAL:
            free = socket.socket()
            free.bind(("localhost", 0))
            own = free.getsockname()[1]
            sockets.append(free)  # open until all have been chosen, so that they differ
        addresses.append("%s:%d" % (host.split("@")[-1], own))
    for each in sockets:
        each.close()
    return [
        json.dumps({"cluster": {"worker": addresses}, "task": {"type": "worker", "index": index}})
        for index in range(len(hosts))
    ]


def _command(host: str, command: list[str], config: str) -> tuple[list[str], dict[str, str]]:
    """(the command line that starts a worker on a host, its environment)."""
    own = dict(os.environ)
    own.pop(machine.TPU, None)
    python = [sys.executable, "-m", *command]
    if host in _LOCAL:
        return python, dict(own, TF_CONFIG=config)
    carried = {name: value for name, value in own.items() if name.startswith(_CARRIED)}
    carried["TF_CONFIG"] = config
    line = ["env", *("%s=%s" % pair for pair in sorted(carried.items())), *python]
    there = "cd %s && exec %s" % (shlex.quote(os.getcwd()), " ".join(map(shlex.quote, line)))
    # With a terminal, what runs there ends when ssh does.
    return ["ssh", "-tt", "-o", "BatchMode=yes", host, there], own


def _wait(workers: Sequence[Worker]) -> int:
    """The exit code of the worker that failed first; 0 once all have ended well."""
    while True:
        codes = [worker.process.poll() for worker in workers]
        for index, code in enumerate(codes):
            if code:
                told = "tpudist launch: worker %d ended with exit code %d; the others are ended"
                print(told % (index, code), file=sys.stderr)
                return code if code > 0 else 128 - code
        if None not in codes:
            return 0
        time.sleep(0.05)
