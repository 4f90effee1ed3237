"""The command line: a list of verbs, each a module of its own, and what is said of errors.

Verbs import what they need when they run, so that ``tpudist --help`` costs
no TensorFlow, no numpy and no noticeable time.

Exit codes: 0 fine, 1 the verb found problems, 2 a usage error or a
``TpudistError`` (one message; ``TPUDIST_TRACEBACK=1`` shows the traceback),
130 after Ctrl-C; what Ctrl-C does to a script is the script's.
"""

from __future__ import annotations

import argparse
import importlib
import os
import shlex
import sys
from types import ModuleType
from typing import Mapping, Sequence

from tpudist import __version__, console
from tpudist.errors import TpudistError

#: {verb: its module}. One has ``add``, which adds its parser to argparse's, and ``run``, which
#: takes the parsed options and returns an exit code; and ``split``, if words behind it are another
#: command's. A tool whose folder is not there has no verb.
VERBS = {
    "run": "tpudist.run",
    "launch": "tpudist.tools.launch",
    "doctor": "tpudist.tools.doctor",
    "selftest": "tpudist.tools.selftest",
    "matrix": "tpudist.tools.matrix",
    "pins": "tpudist.tools.pins",
    "migrate": "tpudist.tools.migrate",
    "help": "tpudist.guides",
    "completion": "tpudist.completion",
}

#: {option of ``tpudist run``: the module that adds it and what goes with it, ``add_to_run``}.
OPTIONS_OF_RUN = {"compile": "tpudist.tools.compile"}


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one verb, with the arguments after ``tpudist`` or of this process; the exit code.

    Raises:
      SystemExit: from argparse (``--help``, usage errors), or the script's own.
    """
    words = sys.argv[1:] if argv is None else list(argv)
    try:
        return _run_verb(words, argv is None)
    except KeyboardInterrupt:
        if words[:1] == ["run"]:  # Python prints where the script was
            raise
        print("tpudist: interrupted", file=sys.stderr)
        return 130


def _run_verb(words: list[str], is_process: bool) -> int:
    """Runs the verb of a command line; `is_process` says whether that is this process'."""
    top = parser()
    options = _parse(words, top)
    loud = options.verbose - options.quiet
    try:
        with console.loudness(loud):
            code = options.verb(options)
        if is_process:
            sys.stdout.flush()
        return code
    except BrokenPipeError:  # who reads the output has enough of it, such as ``| head``
        if not is_process or options.verb_name == "run":
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


def modules(names: Mapping[str, str] = VERBS) -> dict[str, ModuleType]:
    """{verb or option: its module} of those that are there."""
    found = {}
    for name, module in names.items():
        try:
            found[name] = importlib.import_module(module)
        except ModuleNotFoundError as error:
            if not (module + ".").startswith((error.name or "") + "."):
                raise
    return found


def parser() -> argparse.ArgumentParser:
    """The ``argparse`` parser of all verbs."""
    top = argparse.ArgumentParser(
        prog="tpudist",
        description="Training code written for TensorFlow's TPU "
        "strategies of 1.11, 2.0 and 2.2, on the TensorFlow installed here.",
    )
    top.add_argument("--version", action="version", version="tpudist " + __version__)
    verbs = top.add_subparsers(dest="verb_name", metavar="VERB")
    verbs.required = True
    for module in modules().values():
        verb = module.add(verbs)
        verb.set_defaults(verb=module.run)
        verb.add_argument("--version", action="version", version="tpudist " + __version__)
        told = "print the result alone: no notes, no progress"
        verb.add_argument("-q", "--quiet", action="store_true", help=told)
        told = "print what TensorFlow logs when it starts, and the traceback of tpudist's errors"
        verb.add_argument("-v", "--verbose", action="store_true", help=told)
    for module in modules(OPTIONS_OF_RUN).values():
        module.add_to_run(verbs.choices["run"])
    return top


def _parse(words: list[str], top: argparse.ArgumentParser) -> argparse.Namespace:
    """The parsed command line, with what it runs in ``arguments``; else ends with a usage."""
    argv, rest = split(words, top)
    options, unknown = top.parse_known_args(argv)
    options.arguments, options.parser = rest, top
    if not unknown:
        return options
    verb = _verbs(top)[options.verb_name]
    if not hasattr(modules()[options.verb_name], "split") or unknown[0].startswith("-"):
        verb.error("unrecognized arguments: %s" % " ".join(unknown))
    place = len(words) - 1 - words[::-1].index(unknown[0])
    typed = " ".join(map(shlex.quote, ["tpudist", *words[:place], "--", *words[place:]]))
    verb.error("%s stands before '--'. Behind it is what is run. Instead: %s" % (unknown[0], typed))


def _verbs(top: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    return next(
        each for each in top._actions if isinstance(each, argparse._SubParsersAction)
    ).choices


def split(argv: list[str], top: argparse.ArgumentParser) -> tuple[list[str], list[str]]:
    """Splits a command line into tpudist's arguments and those of what it runs."""
    module = modules().get(argv[0]) if argv else None
    if module is None or not hasattr(module, "split"):
        return argv, []
    own, rest = module.split(argv[1:], _verbs(top)[argv[0]])
    return argv[:1] + own, rest
