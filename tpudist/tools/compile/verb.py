"""The options of ``tpudist compile``, and those of ``tpudist run --compile``. No TensorFlow."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from tpudist import surfaces

if TYPE_CHECKING:
    _Verbs = argparse._SubParsersAction[argparse.ArgumentParser]


ERAS = tuple(map(surfaces.spelled, surfaces.ERAS))


def add(verbs: _Verbs) -> argparse.ArgumentParser:
    """Adds the verb and its options."""
    verb = verbs.add_parser(
        "compile",
        help="compile a replica's step with the real TPU compiler, without a TPU",
        allow_abbrev=False,
        usage="tpudist compile [--topology v5e:2x4] [options] path/to/train.py:step_fn "
        "--args 'f32[128,28,28,1],s32[128]'",
        description="Lowers the step as one replica runs it and compiles it with libtpu: does "
        "it compile, does it fit, what does it cost. Exit code 1 if it does not compile.",
    )
    verb.add_argument(
        "target",
        nargs="?",
        metavar="FILE:FUNCTION",
        help="the replica function, as strategy.run gets it; the file is executed as a module",
    )
    verb.add_argument(
        "--args",
        metavar="SHAPES",
        help="what one replica gets, shapes and values, such as "
        "'f32[128,28,28,1],s32[128],n=100', 'x=bf16[8,4]', '(f32[2],s32[])' or "
        "'{image:f32[8,28,28,1],label:s32[8]}'",
    )
    verb.add_argument(
        "--topology",
        "--tpu",
        metavar="SLICE",
        default="v5e:2x4",
        help="chips such as v5e:2x4 or v4:2x2x2, or a name such as v3-32, "
        "v5litepod-8 or v6e-8; by default v5e:2x4",
    )
    verb.add_argument("--era", choices=ERAS, help="as of tpudist run")
    _add_compiler(verb)
    verb.add_argument("--json", metavar="FILE", help="write the report as JSON")
    return verb


def add_to_run(verb: argparse.ArgumentParser) -> None:
    """Adds the options of ``tpudist run --compile``."""
    verb.add_argument(
        "--compile",
        metavar="SLICE",
        help="compile every replica function that the script runs for this slice, "
        "such as v5e:2x4 (see tpudist compile), and report after the script; exit "
        "code 1 if one does not compile",
    )
    _add_compiler(verb)
    verb.set_defaults(compiling=_run_and_compile)


def _add_compiler(verb: argparse.ArgumentParser) -> None:
    """The options of whatever compiles."""
    told = "optimize little: a quick answer, with other figures"
    verb.add_argument("--fast", action="store_true", help=told)
    verb.add_argument(
        "--timeout",
        type=float,
        metavar="SECONDS",
        help="end the compiler after that time; by default 1800",
    )
    verb.add_argument(
        "--max-hbm", metavar="SIZE", help="exit code 1 above so much, such as 14GiB, on a device"
    )
    verb.add_argument(
        "--baseline", metavar="FILE", help="exit code 1 if it is not as in this report of --json"
    )
    verb.add_argument("--rtol", type=float, metavar="X", help="of --baseline; by default 0.05")


def run(options: argparse.Namespace) -> int:
    """``tpudist compile``: a replica's step through the real TPU compiler.

    Args:
      options: see ``tpudist.tools.compile.command.compile_command.run``.

    Returns:
      0 if the step compiles, else 1; 130 after Ctrl-C.
    """
    from tpudist.tools.compile.command import compile_command

    return compile_command.run(options)


def _run_and_compile(options: argparse.Namespace) -> int:
    """Runs ``tpudist run --compile``; see ``command.run_command.run``."""
    from tpudist.tools.compile.command import run_command

    return run_command.run(options)
