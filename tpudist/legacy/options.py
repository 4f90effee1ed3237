"""What ``tpudist run`` takes, the options of the compiler apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse
    from typing import Sequence


def add(verb: argparse.ArgumentParser, eras: Sequence[str]) -> None:
    """Adds the arguments.

    Args:
      verb: the verb's parser.
      eras: how users write the eras.
    """
    verb.add_argument(
        "--era",
        choices=eras,
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
        help="a TPU's name or address, or virtual:8; overrides what the script passes",
    )
    verb.add_argument(
        "--also",
        action="append",
        default=[],
        metavar="PACKAGE",
        help="an installed package that was written for the script's era too; those whose names "
        "tell it are found, and printed; may be given again",
    )
    verb.add_argument(
        "--not",
        dest="left_out",
        action="append",
        default=[],
        metavar="PACKAGE",
        help="a package, or a module, that is to have the installed TensorFlow; may be given again",
    )
    told = "after the script, tell what the virtual cores of each step do together, and why not"
    verb.add_argument("--explain", action="store_true", help=told)
    verb.add_argument(
        "--compile",
        metavar="SLICE",
        help="compile every replica function that the script runs for this slice, "
        "such as v5e:2x4 (see tpudist compile), and report after the script; exit "
        "code 1 if one does not compile",
    )
    verb.add_argument(
        "--trace-only",
        action="store_true",
        help="with --compile: trace replica functions and run none, they return zeros; the "
        "script ends when each of its calls that run replicas has been traced",
    )
    verb.add_argument(
        "-m", dest="module", metavar="MODULE", help="run a module by its name, as python -m does"
    )
    verb.add_argument("script", nargs="?", help="the script's path")
