"""The command line: one function a verb, whose number is the exit code.

Verbs import what they need when they run, so that ``tpudist --help`` costs
no TensorFlow, no numpy and no noticeable time.

Exit codes: 0 fine, 1 the verb found problems, 2 a usage error or a
``TpudistError`` (one message; ``TPUDIST_TRACEBACK=1`` shows the traceback).
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import sys
from typing import Callable, Iterator, Sequence

from tpudist import console, machine
from tpudist import options as declared
from tpudist.errors import ArgumentError, TpudistError

#: Options of ``tpudist run`` that a value follows.
_RUN_VALUES = frozenset(
    """--era --keras --also --not --tpu --compile --lower-with --timeout --json --html --hlo
    --max-hbm --baseline --rtol --check-replicas""".split()
)


def run(options: argparse.Namespace) -> int:
    """``tpudist run``: runs a script of an era, unmodified, on the TPU named.

    Args:
      options: parsed ``script`` or ``module``, ``arguments``, ``era``, ``keras``, ``tpu``,
        ``compile`` and ``check_replicas`` (each of these None if left out), ``also``,
        ``left_out``, ``explain``, ``fast`` and ``lower_with``.

    Returns:
      The script's exit code; if that is 0, 1 if a replica function does not
      compile.
    """
    if not options.script and not options.module:
        raise ArgumentError(
            "no script", "there is nothing to run", "tpudist run train.py, or tpudist run -m MODULE"
        )
    if options.check_replicas is not None:
        _check_replicas(options.check_replicas, options.tpu or os.environ.get(machine.TPU))
    if options.compile:
        from tpudist.tools.compile.command import run_command

        return run_command.run(options)
    from tpudist.legacy import runner

    around = _explaining(options.json, options.html) if options.explain else None
    return runner.of_options(options, options.tpu, around) or 0


def _check_replicas(every: int, tpu: str | None) -> None:
    from tpudist.virtual import system

    if every < 1 or not system.is_cluster(tpu):
        raise ArgumentError(
            "--check-replicas %d of --tpu %s" % (every, tpu),
            "after so many steps the workers of a cluster compare their copies of the variables",
            "tpudist launch --hosts a,b -- --check-replicas 100 train.py",
        )
    os.environ[machine.CHECK_REPLICAS] = str(every)


@contextlib.contextmanager
def _explaining(json: str | None, html: str | None) -> Iterator[None]:
    """Prints, after the block, an explanation of each step function that was traced in it.

    Args:
      json, html: files to write it to as well, or None.
    """
    from tpudist.tools import explain
    from tpudist.virtual import explanations

    with explanations.recording() as recorded:
        yield
    print(explanations.report(recorded))
    explain.write(recorded, json, html)


def compile_(options: argparse.Namespace) -> int:
    """``tpudist compile``: a replica's step through the real TPU compiler.

    Args:
      options: see ``tpudist.tools.compile.command.compile_command.run``.

    Returns:
      0 if the step compiles, else 1; 130 after Ctrl-C.
    """
    from tpudist.tools.compile.command import compile_command

    try:
        return compile_command.run(options)
    except KeyboardInterrupt:
        print("tpudist: interrupted", file=sys.stderr)
        return 130


#: {option of the doctor: what it is of the TPU that is asked}.
_OF_A_NAMED_TPU = {
    "configure": "sets the runtime",
    "zone": "is the place",
    "project": "is the owner",
}


def doctor(options: argparse.Namespace) -> int:
    """``tpudist doctor``: reports what is installed and what to type.

    Args:
      options: parsed ``paths``, ``json`` and ``configure`` (bool), and ``runtime``, ``tpu``,
        ``zone``, ``project`` and ``constraints`` (each a text or None).

    Returns:
      0 if nothing is wrong, 1 if there are problems.
    """
    from tpudist.tools import doctor as doctors

    if options.constraints:
        from tpudist.tools.matrix import table

        print(table.constraints(options.constraints), end="")
        return 0
    for name, what in _OF_A_NAMED_TPU.items():
        if getattr(options, name) and not options.tpu:
            raise ArgumentError(
                "--%s without --tpu" % name,
                "it %s of the TPU that --tpu names" % what,
                "tpudist doctor --tpu NAME --" + name,
            )
    if options.tpu == "":
        raise ArgumentError("--tpu ''", "no TPU has an empty name", "tpudist doctor, or --tpu NAME")
    look = [options.tpu] if options.tpu else []
    for name in ("zone", "project"):
        look += ["--%s=%s" % (name, getattr(options, name))] * bool(getattr(options, name))
    look += ["--configure"] * options.configure
    return doctors.run(options.json, options.runtime, look=look, paths=options.paths)


def complete(options: argparse.Namespace) -> int:
    """``tpudist completion``: prints a script with which a shell completes options.

    Args:
      options: parsed ``shell``.

    Returns:
      0.
    """
    from tpudist import completion

    print(completion.script(parser(), options.shell))
    return 0


def _run_of(module: str) -> Callable[[argparse.Namespace], int]:
    """The function `run` of a module, which is imported when its verb is typed."""

    def verb(options: argparse.Namespace) -> int:
        code: int = importlib.import_module(module).run(options)
        return code

    return verb


_VERBS = {
    "run": run,
    "launch": _run_of("tpudist.tools.launch"),
    "compile": compile_,
    "doctor": doctor,
    "selftest": _run_of("tpudist.tools.selftest"),
    "matrix": _run_of("tpudist.tools.matrix"),
    "pins": _run_of("tpudist.tools.pins"),
    "migrate": _run_of("tpudist.tools.migrate"),
    "help": _run_of("tpudist.guides"),
    "completion": complete,
}


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one verb.

    Args:
      argv: the arguments after ``tpudist``; those of this process if None.

    Returns:
      The exit code, an int.

    Raises:
      SystemExit: from argparse (``--help``, usage errors), or the script's own.
    """
    is_process = argv is None
    argv, script_arguments = _split(sys.argv[1:] if argv is None else list(argv))
    options = parser().parse_args(argv)
    options.arguments = script_arguments
    loud = options.verbose - options.quiet
    try:
        with console.loudness(loud):
            code = options.verb(options)
        if is_process:
            sys.stdout.flush()
        return code
    except BrokenPipeError:  # who reads the output has enough of it, such as ``| head``
        if not is_process or options.verb is run:
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except TpudistError as error:
        if loud == console.VERBOSE or os.environ.get("TPUDIST_TRACEBACK", "0") not in ("", "0"):
            raise
        print(
            "tpudist: %s %s" % (console.painted("error:", "red", sys.stderr), error),
            file=sys.stderr,
        )
        return 2


def parser() -> argparse.ArgumentParser:
    """The ``argparse`` parser of all verbs."""
    return declared.parser(_VERBS)


def _split(argv: list[str]) -> tuple[list[str], list[str]]:
    """(tpudist's arguments, those of the script or command that it runs).

    argparse would take the script's ``--`` and ``--tpu`` for its own.
    """
    if argv[:1] in (["matrix"], ["launch"]) and "--" in argv:
        index = argv.index("--")
        return argv[:index], argv[index + 1 :]
    if (
        argv[:1] == ["pins"]
        and argv[1:2] in (["update"], ["record"])
        and (argv[2:] not in (["-h"], ["--help"]))
    ):
        return argv[:2], argv[3 if argv[2:3] == ["--"] else 2 :]
    if argv[:1] != ["run"]:
        return argv, []
    index = 1
    while index < len(argv) and argv[index].startswith("-"):
        if argv[index] == "-m":
            return argv[: index + 2], argv[index + 2 :]
        if argv[index].startswith("-m"):  # argparse of Python 3.7 does not take "-mname" apart
            return argv[:index] + ["-m", argv[index][2:]], argv[index + 1 :]
        index += 2 if argv[index] in _RUN_VALUES else 1
    return argv[: index + 1], argv[index + 1 :]
