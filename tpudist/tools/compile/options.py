"""The options of ``tpudist run --compile``. No TensorFlow."""

from __future__ import annotations

import argparse


def add_to_run(verb: argparse.ArgumentParser) -> None:
    """Adds the options of ``tpudist run --compile``."""
    verb.add_argument(
        "--compile",
        metavar="SLICE",
        help="compile every replica function that the script runs for this slice, chips such as "
        "v5e:2x4 or a name such as v3-32 or v5litepod-8, with the real TPU compiler, and report "
        "after the script; exit code 1 if one does not compile",
    )
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
    verb.set_defaults(compiling=_run_and_compile)


def _run_and_compile(options: argparse.Namespace) -> int:
    from tpudist.tools.compile.command import run_command

    return run_command.run(options)
