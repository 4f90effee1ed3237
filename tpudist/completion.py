"""Writes what a shell needs to complete tpudist's options and the paths behind them, by shtab."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from tpudist import guides
from tpudist.errors import ArgumentError

if TYPE_CHECKING:
    _Verbs = argparse._SubParsersAction[argparse.ArgumentParser]

#: What stands for a path in the help.
_PATHS = {"FILE", "PATH", "DIR", "PYTHON", "DIR[EXTRAS]", "FILE:FUNCTION"}


def add(verbs: _Verbs) -> argparse.ArgumentParser:
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
    """Runs ``tpudist completion``: prints a script with which a shell completes options; 0."""
    print(script(options.parser, options.shell))
    return 0


def script(parser: argparse.ArgumentParser, shell: str) -> str:
    """The script of a shell.

    Args:
      parser: tpudist's.
      shell: "bash", "zsh" or "fish".

    Raises:
      ArgumentError: shtab is not installed, or too old for the shell.
    """
    try:
        import shtab
    except ImportError:
        raise ArgumentError(
            "no shtab beside %s" % sys.executable,
            "it writes the scripts for shells",
            'pip install "tpudist[completion]"',
        ) from None
    if shell not in shtab.SUPPORTED_SHELLS:
        raise ArgumentError(
            "completion %s" % shell,
            "shtab %s writes it for %s" % (shtab.__version__, ", ".join(shtab.SUPPORTED_SHELLS)),
            "pip install --upgrade shtab, on Python 3.9 or newer",
        )
    _mark(parser, shtab.FILE)
    return str(shtab.complete(parser, shell=shell))


def _mark(parser: argparse.ArgumentParser, mark: object) -> None:
    """Says of each argument of a parser, and of those below it, whether it is a path or a guide."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for verb in action.choices.values():
                _mark(verb, mark)
        elif action.metavar == "TOPIC":
            action.choices = guides.topics()
        elif action.metavar in _PATHS or action.dest == "script":
            vars(action)["complete"] = mark
