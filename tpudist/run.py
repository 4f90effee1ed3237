"""``tpudist run``: its options, and what it does with them. No TensorFlow, no numpy."""

from __future__ import annotations

import argparse
import contextlib
import os
from typing import Iterator

from tpudist import machine, surfaces
from tpudist.errors import ArgumentError

ERAS = tuple(map(surfaces.spelled, surfaces.ERAS))


def add(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> argparse.ArgumentParser:
    """Adds the verb and its options."""
    verb = verbs.add_parser(
        "run",
        help="run a legacy script, unmodified",
        allow_abbrev=False,
        usage="tpudist run [options] script.py|notebook.ipynb|-m MODULE [args...]",
        description="Runs a script written for 'import tensorflow as tf' of its era. "
        "Everything after the script belongs to the script.",
    )
    _add_program(verb)
    text = (
        "after the script, report what the virtual cores of each step do together, and why not, "
        "what a TPU would refuse, and what to type next; --json writes it too"
    )
    verb.add_argument("--explain", action="store_true", help=text)
    text = "round operands of float32 products to bfloat16, as a TPU does: tpudist help numbers"
    verb.add_argument("--tpu-numbers", action="store_true", help=text)
    text = "on a cluster, compare the workers' variables after the first step and every N-th"
    verb.add_argument("--check-replicas", type=int, metavar="N", help=text)
    verb.add_argument("--json", metavar="FILE", help="write the explanation as JSON")
    verb.add_argument(
        "-m", dest="module", metavar="MODULE", help="run a module by its name, as python -m does"
    )
    verb.add_argument("script", nargs="?", help="the path of the script, or of a notebook")
    return verb


def _add_program(verb: argparse.ArgumentParser) -> None:
    """Adds the program to run and the options of its era and TPU."""
    verb.add_argument(
        "--era",
        choices=ERAS,
        help="the API the script was written for; found by reading it if left out",
    )
    verb.add_argument(
        "--keras",
        choices=("era", "installed"),
        help="tf.keras of the script: that of its era, Keras 2 (from TensorFlow 2.16 on the "
        "package tf_keras, if it is installed), which is the default; or the installed Keras 3",
    )
    verb.add_argument(
        "--tpu",
        metavar="NAME",
        help="a TPU's name or address; virtual:8; gpus, gpus:4, cpus:8: devices as cores; "
        "cluster:virtual:8, cluster:gpus:4: those of each worker of TF_CONFIG; overrides what the "
        "script passes",
    )
    verb.add_argument(
        "--also",
        action="append",
        default=[],
        metavar="PACKAGE",
        help="an installed package that is to have the era's TensorFlow too, though its names are "
        "of another era or it is made for one release of TensorFlow; may be given again",
    )
    verb.add_argument(
        "--not",
        dest="left_out",
        action="append",
        default=[],
        metavar="PACKAGE",
        help="a package, or a module, that is to have the installed TensorFlow; may be given again",
    )


def run(options: argparse.Namespace) -> int:
    """Runs a script of an era, unmodified, on the TPU named.

    Returns the script's exit code; if that is 0, 1 if a replica function does not compile.
    """
    if not options.script and not options.module:
        raise ArgumentError(
            "no script", "there is nothing to run", "tpudist run train.py, or tpudist run -m MODULE"
        )
    if options.check_replicas is not None:
        _check_replicas(options.check_replicas, options.tpu or os.environ.get(machine.TPU))
    if options.tpu_numbers:
        os.environ[machine.TPU_NUMBERS] = "1"
    from tpudist.legacy import runner  # It asks TensorFlow for its version.

    if getattr(options, "compile", None):
        return options.compiling(options) or 0
    around = _explaining(options.json) if options.explain else None
    return runner.of_options(options, options.tpu, around) or 0


def _check_replicas(every: int, tpu: str | None) -> None:
    from tpudist.virtual import system

    if every < 0 or not system.is_cluster(tpu):
        raise ArgumentError(
            "--check-replicas %d of --tpu %s" % (every, tpu),
            "after so many steps the workers of a cluster compare their copies of the variables",
            "tpudist launch --hosts a,b -- --check-replicas 100 train.py",
        )
    os.environ[machine.CHECK_REPLICAS] = str(every)


@contextlib.contextmanager
def _explaining(json: str | None) -> Iterator[None]:
    """Prints what each step function traced in the block does, and writes it to the file `json`."""
    from tpudist.legacy import explain
    from tpudist.virtual import explanations

    with explanations.recording() as recorded:
        yield
    print(explanations.report(recorded))
    if json:
        explain.write(json, recorded)


def split(argv: list[str], verb: argparse.ArgumentParser) -> tuple[list[str], list[str]]:
    """(tpudist's words behind ``run``, with the script's path or module's name last; the script's).

    argparse would take the script's ``--`` and ``--tpu`` for its own.
    """
    valued = {
        name for action in verb._actions if action.nargs != 0 for name in action.option_strings
    }
    index = 0
    while index < len(argv) and argv[index].startswith("-"):
        if argv[index] == "-m":
            return argv[: index + 2], argv[index + 2 :]
        if argv[index].startswith("-m"):  # argparse of Python 3.7 does not take "-mname" apart
            return argv[:index] + ["-m", argv[index][2:]], argv[index + 1 :]
        index += 2 if argv[index] in valued else 1
    return argv[: index + 1], argv[index + 1 :]
