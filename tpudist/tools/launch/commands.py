"""The command that starts each worker, here or by ssh, with its variables. No TensorFlow here."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import shutil
import socket
import sys
from typing import TYPE_CHECKING, Sequence

from tpudist import machine
from tpudist.errors import ArgumentError
from tpudist.system import tasks
from tpudist.tools.launch.processes import Command

if TYPE_CHECKING:
    import argparse

#: The port of each worker on a host of its own.
_PORT = 2222

#: The environment variables that workers on other hosts get too, and how others of them begin.
_CARRIED = frozenset(
    """CUDA_VISIBLE_DEVICES LD_LIBRARY_PATH PYTHONHASHSEED PYTHONPATH TF_CPP_MIN_LOG_LEVEL
    TF_CPP_MIN_VLOG_LEVEL TF_CPP_VMODULE TF_CUDNN_DETERMINISTIC TF_DETERMINISTIC_OPS
    TF_ENABLE_ONEDNN_OPTS TF_FORCE_GPU_ALLOW_GROWTH TF_GPU_ALLOCATOR TF_GPU_THREAD_COUNT
    TF_GPU_THREAD_MODE TF_NUM_INTEROP_THREADS TF_NUM_INTRAOP_THREADS TF_USE_LEGACY_KERAS
    TF_XLA_FLAGS XLA_FLAGS""".split()
)
_CARRIED_GROUPS = ("NCCL_", "OMP_", "TPUDIST_")

#: Those that Python, or the loader of its libraries, reads when it starts.
_READ_BY_PYTHON = ("LD_LIBRARY_PATH", "PYTHONHASHSEED", "PYTHONPATH")

#: The module that a worker runs first.
_WORKER = "tpudist.tools.launch.worker"

#: The names of this machine.
LOCAL = ("localhost", "127.0.0.1")

#: A line of a file of hosts.
_HOST = re.compile(r"([^\s=]+)(?:\s+slots=([1-9]\d*))?$")


def configurations(hosts: Sequence[str], port: int | None) -> list[str]:
    """Returns what TF_CONFIG is on each worker, in the order of the hosts.

    `port` is that of the first; None for any that is free on localhost.
    """
    addresses = []
    sockets = []
    for index, host in enumerate(hosts):
        own = (port or _PORT) + index
        if port is None and host in LOCAL:
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


def of_workers(
    hosts: Sequence[str], lines: Sequence[list[str]], options: argparse.Namespace, seed: int
) -> list[Command]:
    """The `Command` of each worker, with free ports; `lines` are what ``tpudist`` gets on each."""
    alike = {
        machine.SEED: str(seed),
        machine.START_TIMEOUT: str(options.start_timeout),
        "PYTHONHASHSEED": str(seed),
        **dict(map(_variable, options.env or ())),
    }
    ssh = _ssh(options.ssh) if set(hosts).difference(LOCAL) else []
    made = []
    for host, line, config in zip(hosts, lines, configurations(hosts, options.port)):
        variables = {**alike, tasks.VARIABLE: config}
        made.append(_here(line, variables) if host in LOCAL else _there(ssh, host, line, variables))
    return made


def _ssh(command: str) -> list[str]:
    """The words of ``--ssh``, whose program has to be there."""
    words: list[str] = []
    with contextlib.suppress(ValueError):  # a quotation that does not end
        words = shlex.split(command)
    if not words or shutil.which(words[0]) is None:
        raise ArgumentError(
            "--ssh %r" % command,
            "hosts other than localhost are reached by it, and there is no such command here",
            "an installed ssh; or localhost among --hosts, for workers on this machine",
        )
    return words


def hosts_of(options: argparse.Namespace) -> list[str]:
    """The hosts of ``--hosts`` and ``--hostfile``, one for each worker."""
    hosts = [host for host in (options.hosts or "").split(",") if host]
    if not options.hostfile:
        return hosts
    try:
        with open(options.hostfile, encoding="utf-8") as file:
            lines = file.read().splitlines()
    except OSError as error:
        raise ArgumentError(
            "--hostfile %s" % options.hostfile, str(error), "a file with a host on each line"
        ) from error
    for number, line in enumerate(lines, 1):
        if not line.partition("#")[0].strip():
            continue
        found = _HOST.match(line.partition("#")[0].strip())
        if found is None:
            raise ArgumentError(
                "%s:%d: %s" % (options.hostfile, number, line),
                "a line has a host, and how many workers start there",
                "a.example.com slots=2",
            )
        hosts += [found.group(1)] * int(found.group(2) or 1)
    return hosts


def _variable(text: str) -> tuple[str, str]:
    """The pair of ``--env NAME=VALUE``; the value of ``--env NAME`` is the one here."""
    name, has_value, value = text.partition("=")
    if not has_value and name not in os.environ:
        raise ArgumentError(
            "--env %s" % text, "there is no such variable here", "--env %s=VALUE" % name
        )
    return name, value if has_value else os.environ[name]


def _here(command: list[str], variables: dict[str, str]) -> Command:
    environment = {**os.environ, **variables}
    environment.pop(machine.TPU, None)
    return Command([sys.executable, "-m", _WORKER, *command], environment, {})


def _there(ssh: list[str], host: str, command: list[str], variables: dict[str, str]) -> Command:
    """A command by `ssh`; only what Python reads when it starts stands on its command line."""
    carried = {
        name: value
        for name, value in os.environ.items()
        if name in _CARRIED or name.startswith(_CARRIED_GROUPS)
    }
    sent = {**carried, **variables}
    sent.pop(machine.TPU, None)
    first = ["%s=%s" % (name, sent[name]) for name in _READ_BY_PYTHON if name in sent]
    line = ["env", *first, sys.executable, "-m", _WORKER, *command]
    there = "cd %s && exec %s" % (shlex.quote(os.getcwd()), " ".join(map(shlex.quote, line)))
    return Command([*ssh, "-o", "BatchMode=yes", host, there], dict(os.environ), sent)
