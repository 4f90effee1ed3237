"""Writes what a shell needs to complete tpudist's options and the paths behind them, by shtab."""

from __future__ import annotations

import argparse
import sys

from tpudist import guides
from tpudist.errors import ArgumentError

#: What stands for a path in the help.
_PATHS = {"FILE", "PATH", "DIR", "DIR[EXTRAS]"}


def add(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> argparse.ArgumentParser:
    """Adds the verb and its options."""
    verb = verbs.add_parser(
        "completion",
        help="print what has a shell complete tpudist's options",
        description='Prints a script for a shell: eval "$(tpudist completion bash)" in ~/.bashrc, '
        "tpudist completion zsh > a folder of fpath/_tpudist, tpudist completion fish > "
        "~/.config/fish/completions/tpudist.fish. Needs the extra 'completion'.",
    )
    verb.add_argument("shell", choices=("bash", "zsh", "fish"))
    return verb


def run(options: argparse.Namespace) -> int:
    """Runs ``tpudist completion``: prints a script with which a shell completes options; 0.

    Raises:
      ArgumentError: shtab is not installed, or too old for the shell.
    """
    try:
        import shtab

        shells = shtab.SUPPORTED_SHELLS
    except ImportError:
        shells = []
    if options.shell not in shells:
        raise ArgumentError(
            "no shtab beside %s that writes for %s" % (sys.executable, options.shell),
            "it writes the scripts for shells: here for %s" % (", ".join(shells) or "none"),
            'pip install --upgrade "tpudist[completion]", on Python 3.9 or newer for fish',
        )
    _mark(options.parser, shtab.FILE)
    print(shtab.complete(options.parser, shell=options.shell))
    return 0


def _mark(parser: argparse.ArgumentParser, mark: object) -> None:
    """Says of each argument of a parser, and of those below it, whether it is a path or a guide."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for verb in action.choices.values():
                _mark(verb, mark)
        elif action.metavar == "TOPIC":
            action.choices = list(guides.paths())
        elif action.metavar in _PATHS or action.dest == "script":
            vars(action)["complete"] = mark
