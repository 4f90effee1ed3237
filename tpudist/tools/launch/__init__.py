"""``tpudist launch``: starts one program on several hosts, each of which is a worker of a cluster.

A worker is ``tpudist run --tpu cluster:...``, with the variable TF_CONFIG that TensorFlow's
cluster resolver reads. No TensorFlow here.

To change: the options are here, the commands in :mod:`commands`, the processes in
:mod:`processes`, and what each of them does first in :mod:`worker`.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
from typing import TYPE_CHECKING, Sequence

from tpudist import console
from tpudist.errors import ArgumentError
from tpudist.tools.launch import commands, processes
from tpudist.virtual import system

if TYPE_CHECKING:
    _Verbs = argparse._SubParsersAction[argparse.ArgumentParser]


def add(verbs: _Verbs) -> argparse.ArgumentParser:
    """Adds the verb and its options."""
    verb = verbs.add_parser(
        "launch",
        help="run a legacy script on several hosts at once",
        allow_abbrev=False,
        usage="tpudist launch --hosts a,b|--hostfile FILE [--cores virtual:N|N|gpus|gpus:N] "
        "[--port N] [--ssh COMMAND] [--quiet-workers] [--log-dir FOLDER] [--env NAME[=VALUE]] "
        "[--seed N] [--start-timeout SECONDS] [--grace SECONDS] [--max-restarts N] "
        "-- [options of tpudist run] script.py [args...]",
        description="Starts the script on each host, as tpudist run --tpu cluster does: by ssh, "
        "in this folder and with this Python, which has to be there too; a process here for each "
        "'localhost'. If one fails, the others are ended. Exit code: that of the first failure.",
    )
    option = verb.add_argument
    option("--hosts", metavar="LIST", help="names with commas between; the first is chief")
    option("--hostfile", metavar="FILE", help="a host a line, with slots=N for N workers there")
    option("--ssh", metavar="COMMAND", default="ssh", help="such as 'ssh -p 2222 -i key'")
    text = (
        "cores of each host: virtual:8, on one device; virtual:v3-32, those of a slice of so "
        "many hosts; 4 or cpus:4, logical CPUs; gpus:4; by default every GPU"
    )
    option("--cores", metavar="N", help=text)
    text = "of the first worker, the next has N + 1; by default 2222, for localhost a free one"
    option("--port", type=int, metavar="N", help=text)
    text = "show the output of the chief alone, and the last lines of a worker that fails"
    option("--quiet-workers", action="store_true", help=text)
    option("--log-dir", metavar="FOLDER", help="write each worker's output to a file there too")
    text = "a variable for all workers; TensorFlow's, NCCL's, OpenMP's and tpudist's go without it"
    option("--env", action="append", metavar="NAME[=VALUE]", help=text)
    text = "of what the program draws without a seed, on all workers alike; drawn by default"
    option("--seed", type=int, metavar="N", help=text)
    text = "in which all workers have to come; 300 by default"
    option("--start-timeout", type=int, default=300, metavar="SECONDS", help=text)
    text = "that workers have to end by themselves, once they are asked to; 10 by default"
    option("--grace", type=float, default=10.0, metavar="SECONDS", help=text)
    text = "how often all start again, from the program's checkpoint, if one fails; 0 by default"
    option("--max-restarts", type=int, default=0, metavar="N", help=text)
    return verb


def split(argv: list[str], verb: argparse.ArgumentParser) -> tuple[list[str], list[str]]:
    """(tpudist's words, those of the command that it runs), which "--" takes apart."""
    if "--" not in argv:
        return argv, []
    index = argv.index("--")
    return argv[:index], argv[index + 1 :]


def run(options: argparse.Namespace) -> int:
    """Starts the workers, and waits until all have ended or one has failed.

    Returns 0, or the exit code of the worker that failed first; 128 and the number of a signal.
    """
    hosts = commands.hosts_of(options)
    if not hosts or not options.arguments:
        raise ArgumentError(
            "no host" if not hosts else "no script",
            "each host of --hosts or --hostfile runs the script that stands behind --",
            "tpudist launch --hosts localhost,localhost --cores 4 -- train.py",
        )
    _refuse_another_tpu(options.arguments)
    _refuse_numbers(options)
    seed = random.SystemRandom().randrange(2**31) if options.seed is None else options.seed
    output = _output(options)
    lines = [_line(options, is_chief=not index) for index in range(len(hosts))]
    console.note("tpudist launch: --seed %d draws these numbers again" % seed)
    for restart in range(options.max_restarts + 1):
        if restart:
            print(
                "tpudist launch: restart %d of %d" % (restart, options.max_restarts),
                file=sys.stderr,
            )
        workers = commands.of_workers(hosts, lines, options, seed)
        ended = processes.run(hosts, workers, output, options.grace)
        if not ended.has_failed:
            break
    return ended.code


def _line(options: argparse.Namespace, is_chief: bool) -> list[str]:
    """The command line of a worker; notes, which are the same for all, are the chief's."""
    loudness = ["--verbose"] * options.verbose or ["--quiet"] * (options.quiet or not is_chief)
    return ["run", *loudness, "--tpu", _tpu(options.cores), *options.arguments]


def _output(options: argparse.Namespace) -> processes.Output:
    """The destination of the workers' output."""
    try:
        if options.log_dir:
            os.makedirs(options.log_dir, exist_ok=True)
    except OSError as error:
        raise ArgumentError(
            "--log-dir %s" % options.log_dir, str(error), "a folder that can be made"
        ) from error
    return processes.Output(options.quiet_workers, options.log_dir)


def _refuse_numbers(options: argparse.Namespace) -> None:
    """Refuses a seed, or a number of restarts, that there cannot be."""
    if options.seed is not None and options.seed not in range(2**31):
        raise ArgumentError(
            "--seed %d" % options.seed,
            "Python, NumPy and TensorFlow take seeds from 0 to 2**31 - 1",
            "--seed 7, say",
        )
    if options.max_restarts < 0:
        raise ArgumentError(
            "--max-restarts %d" % options.max_restarts, "it is a number of times", "0 or more"
        )


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
