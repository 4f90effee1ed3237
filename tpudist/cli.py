"""The command line: one small function a verb, whose number is the exit code.

Verbs import what they need when they run, so that ``tpudist --help`` costs
no TensorFlow, no numpy and no noticeable time.

Exit codes: 0 fine, 1 the verb found problems, 2 a usage error or a
``TpudistError`` (one message; ``TPUDIST_TRACEBACK=1`` shows the traceback).
"""

import argparse
import os
import sys

from tpudist import __version__
from tpudist.errors import TpudistError

ERAS = ("contrib", "2.0", "2.2")


def run(options):
    """``tpudist run``: runs a script of an era, unmodified, on the TPU named.

    Args:
      options: parsed ``script``, ``arguments``, ``era`` (or None), ``tpu`` (or None).

    Returns:
      The script's exit code.
    """
    from tpudist.legacy import runner
    return runner.run(options.script, options.arguments, options.era, options.tpu) or 0


def doctor(options):
    """``tpudist doctor``: reports what is installed and what to type.

    Args:
      options: parsed ``json`` (bool) and ``runtime`` (or None).

    Returns:
      0 if nothing is wrong, 1 if there are problems.
    """
    from tpudist import doctor as doctors
    return doctors.run(options.json, options.runtime)


def main(argv=None):
    """Runs one verb.

    Args:
      argv: the arguments after ``tpudist``; those of this process if None.

    Returns:
      The exit code, an int.

    Raises:
      SystemExit: from argparse (``--help``, usage errors), or the script's own.
    """
    argv, script_arguments = _split(sys.argv[1:] if argv is None else list(argv))
    options = parser().parse_args(argv)
    options.arguments = script_arguments
    try:
        return options.verb(options)
    except TpudistError as error:
        if os.environ.get("TPUDIST_TRACEBACK", "0") not in ("", "0"):
            raise
        print("tpudist: error: %s" % error, file=sys.stderr)
        return 2


def parser():
    """The ``argparse`` parser of all verbs."""
    top = argparse.ArgumentParser(
        prog="tpudist", description="Training code written for TensorFlow's TPU "
        "strategies of 1.11, 2.0 and 2.2, on the TensorFlow installed here.")
    top.add_argument("--version", action="version", version="tpudist " + __version__)
    verbs = top.add_subparsers(dest="verb_name", metavar="VERB")
    verbs.required = True
    _add_run(verbs)
    _add_doctor(verbs)
    return top


def _add_run(verbs):
    verb = verbs.add_parser(
        "run", help="run a legacy script, unmodified", allow_abbrev=False,
        usage="tpudist run [--era ERA] [--tpu NAME] script.py [args...]",
        description="Runs a script written for 'import tensorflow as tf' of its era. "
        "Everything after the script belongs to the script.")
    verb.add_argument("--era", choices=ERAS,
                      help="the API the script was written for; found by reading it if left out")
    verb.add_argument("--tpu", metavar="NAME",
                      help="a TPU's name or address, or virtual:8; overrides what the script passes")
    verb.add_argument("script", help="the script's path")
    verb.set_defaults(verb=run)


def _add_doctor(verbs):
    verb = verbs.add_parser(
        "doctor", help="what is installed, what does not fit, what to type",
        description="Reports TensorFlow, Keras, TPU and their mismatches. Exit code 1 "
        "if there are problems. Asks no network.")
    verb.add_argument("--json", action="store_true", help="one JSON object, for programs")
    verb.add_argument("--runtime", metavar="VERSION",
                      help="the TPU runtime's version, if you know it, to compare with")
    verb.set_defaults(verb=doctor)


def _split(argv):
    """(tpudist's arguments up to the script, the script's arguments).

    argparse would take the script's ``--`` and ``--tpu`` for its own.
    """
    if argv[:1] != ["run"]:
        return argv, []
    index = 1
    while index < len(argv) and argv[index].startswith("-"):
        index += 2 if argv[index] in ("--era", "--tpu") else 1
    return argv[:index + 1], argv[index + 1:]
