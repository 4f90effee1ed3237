"""``tpudist launch``: starts one program on several hosts, each of which is a worker of a cluster.

A worker is ``tpudist run --tpu cluster:...``, with the variable TF_CONFIG that TensorFlow's
cluster resolver reads. No TensorFlow here.

To change: the options and the commands are here, the processes in :mod:`processes`, and what each
of them does first in :mod:`worker`.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shlex
import socket
import sys
from typing import TYPE_CHECKING, Sequence

from tpudist import console, machine
from tpudist.errors import ArgumentError
from tpudist.system import tasks
from tpudist.tools.launch import processes
from tpudist.tools.launch.processes import Command
from tpudist.virtual import system

if TYPE_CHECKING:
    _Verbs = argparse._SubParsersAction[argparse.ArgumentParser]

#: The port of each worker on a host of its own.
_PORT = 2222

#: The environment variables that workers on other hosts get too, and how others of them begin.
_CARRIED = (
    "CUDA_VISIBLE_DEVICES",
    "LD_LIBRARY_PATH",
    "PYTHONHASHSEED",
    "PYTHONPATH",
    "TF_CPP_MIN_LOG_LEVEL",
    "TF_CPP_MIN_VLOG_LEVEL",
    "TF_CPP_VMODULE",
    "TF_CUDNN_DETERMINISTIC",
    "TF_DETERMINISTIC_OPS",
    "TF_ENABLE_ONEDNN_OPTS",
    "TF_FORCE_GPU_ALLOW_GROWTH",
    "TF_GPU_ALLOCATOR",
    "TF_GPU_THREAD_COUNT",
    "TF_GPU_THREAD_MODE",
    "TF_NUM_INTEROP_THREADS",
    "TF_NUM_INTRAOP_THREADS",
    "TF_USE_LEGACY_KERAS",
    "TF_XLA_FLAGS",
    "XLA_FLAGS",
)
_CARRIED_GROUPS = ("NCCL_", "OMP_", "TPUDIST_")

#: Those that Python, or the loader of its libraries, reads when it starts.
_READ_BY_PYTHON = ("LD_LIBRARY_PATH", "PYTHONHASHSEED", "PYTHONPATH")

#: The module that a worker runs first.
_WORKER = "tpudist.tools.launch.worker"

_LOCAL = ("localhost", "127.0.0.1")


def add(verbs: _Verbs) -> argparse.ArgumentParser:
    """Adds the verb and its options."""
    verb = verbs.add_parser(
        "launch",
        help="run a legacy script on several hosts at once",
        allow_abbrev=False,
        usage="tpudist launch --hosts a,b [--cores virtual:N|N|gpus|gpus:N] [--port N] "
        "[--quiet-workers] [--env NAME[=VALUE]] [--seed N] [--start-timeout SECONDS] "
        "[--grace SECONDS] "
        "-- [options of tpudist run] script.py [args...]",
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
        "--quiet-workers",
        action="store_true",
        help="show the output of the chief alone, and the last lines of a worker that fails",
    )
    _add_of_workers(verb)
    return verb


def _add_of_workers(verb: argparse.ArgumentParser) -> None:
    """Adds what the workers get, and how long they have."""
    verb.add_argument(
        "--env",
        action="append",
        metavar="NAME[=VALUE]",
        help="a variable for all workers; those on other hosts get TensorFlow's, NCCL's, OpenMP's "
        "and tpudist's variables of this environment without it",
    )
    verb.add_argument(
        "--seed",
        type=int,
        metavar="N",
        help="of what the program draws without a seed of its own, on all workers alike; drawn and "
        "told by default",
    )
    verb.add_argument(
        "--start-timeout",
        type=int,
        default=300,
        metavar="SECONDS",
        help="in which all workers have to come; 300 by default",
    )
    verb.add_argument(
        "--grace",
        type=float,
        default=10.0,
        metavar="SECONDS",
        help="that workers have to end by themselves, once they are asked to; 10 by default",
    )


def split(argv: list[str], verb: argparse.ArgumentParser) -> tuple[list[str], list[str]]:
    """(tpudist's words, those of the command that it runs), which "--" takes apart."""
    if "--" not in argv:
        return argv, []
    index = argv.index("--")
    return argv[:index], argv[index + 1 :]


def run(options: argparse.Namespace) -> int:
    """Starts the workers, and waits until all have ended or one has failed.

    Args:
      options: the parsed options, and ``arguments``: what ``tpudist run`` gets.

    Returns:
      0, or the exit code of the worker that failed first; 128 and the signal's number if a
      signal ended it.

    Raises:
      ArgumentError: there is no host or no script, a variable without a value, or another TPU.
      TPUNameError: the cores are none.
    """
    hosts = [host for host in (options.hosts or "").split(",") if host]
    if not hosts or not options.arguments:
        raise ArgumentError(
            "no host" if not hosts else "no script",
            "each host of --hosts runs the script that stands behind --",
            "tpudist launch --hosts localhost,localhost --cores 4 -- train.py",
        )
    _refuse_another_tpu(options.arguments)
    command = ["run", "--tpu", _tpu(options.cores), *options.arguments]
    if options.seed is not None and options.seed not in range(2**31):
        raise ArgumentError(
            "--seed %d" % options.seed,
            "Python, NumPy and TensorFlow take seeds from 0 to 2**31 - 1",
            "--seed 7, say",
        )
    seed = random.SystemRandom().randrange(2**31) if options.seed is None else options.seed
    commands = _commands(hosts, command, options, seed)
    console.note("tpudist launch: --seed %d draws these numbers again" % seed)
    return processes.run(hosts, commands, options.quiet_workers, options.grace)


def _refuse_another_tpu(arguments: Sequence[str]) -> None:
    """Refuses a TPU's name among the options of ``tpudist run``, which stand before the script."""
    for argument in arguments:
        if argument.endswith(".py") or argument == "-m":
            return
        if argument.partition("=")[0] == "--tpu":
            raise ArgumentError(
                "%s behind --" % argument,
                "tpudist launch gives each worker the name of its own part of the cluster",
                "--cores before --: --cores virtual:8, say",
            )


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


def _commands(
    hosts: Sequence[str], command: list[str], options: argparse.Namespace, seed: int
) -> list[Command]:
    """The `Command` of each worker."""
    named = dict(map(_variable, options.env or ()))
    alike = {
        machine.SEED: str(seed),
        machine.START_TIMEOUT: str(options.start_timeout),
        "PYTHONHASHSEED": str(seed),
        **named,
    }
    made = []
    for host, config in zip(hosts, configurations(hosts, options.port)):
        variables = {**alike, tasks.VARIABLE: config}
        made.append((_here if host in _LOCAL else _there)(host, command, variables))
    return made


def _variable(text: str) -> tuple[str, str]:
    """The pair of ``--env NAME=VALUE``; the value of ``--env NAME`` is the one here."""
    name, has_value, value = text.partition("=")
    if not has_value and name not in os.environ:
        raise ArgumentError(
            "--env %s" % text, "there is no such variable here", "--env %s=VALUE" % name
        )
    return name, value if has_value else os.environ[name]


def _here(unused_host: str, command: list[str], variables: dict[str, str]) -> Command:
    environment = {**os.environ, **variables}
    environment.pop(machine.TPU, None)
    return Command([sys.executable, "-m", _WORKER, *command], environment, {})


def _there(host: str, command: list[str], variables: dict[str, str]) -> Command:
    """A command by ssh; only what Python reads when it starts stands on its command line."""
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
    return Command(["ssh", "-o", "BatchMode=yes", host, there], dict(os.environ), sent)
