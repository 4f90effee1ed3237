"""Compiles a training step with the real TPU compiler, without a TPU.

libtpu, which Cloud TPUs run, compiles for any slice on any x86-64 Linux machine. TensorFlow
lowers one replica's step to HLO (:mod:`lowering`), libtpu compiles that in a process of its own
(:mod:`compiler`), and a report says how much memory the program takes and where its time goes.

Importing this package imports no TensorFlow. To change: a new line of the report is a field in
:mod:`report`, read off the compiled program in :mod:`hlo`.
"""

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
        default=1800.0,
        help="end the compiler after that time; by default 1800",
    )
    verb.add_argument(
        "--max-hbm", metavar="SIZE", help="exit code 1 above so much, such as 14GiB, on a device"
    )
    verb.add_argument(
        "--baseline", metavar="FILE", help="exit code 1 if it is not as in this report of --json"
    )
    told = "of --baseline: by how much HBM, FLOPs and bytes may differ; by default 0.05"
    verb.add_argument("--rtol", type=float, metavar="X", default=0.05, help=told)
    verb.set_defaults(compiling=_run_and_compile)


def _run_and_compile(options: argparse.Namespace) -> int:
    from tpudist.tools.compile import command

    return command.run(options)
