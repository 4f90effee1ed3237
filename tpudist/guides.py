"""The guides, for ``tpudist help``: Markdown files that stand beside this module in a wheel.

In a checkout they are ``examples/guides``.
"""

from __future__ import annotations

import argparse
import os
import sys

from tpudist import machine
from tpudist.errors import ArgumentError


def add(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> argparse.ArgumentParser:
    """Adds the verb and its options."""
    verb = verbs.add_parser(
        "help",
        help="print a guide",
        description="Prints a guide, or the list of them. 'tpudist VERB --help' has the options.",
    )
    verb.add_argument("topic", nargs="?", metavar="TOPIC", help="such as run, migrate or pins")
    return verb


def run(options: argparse.Namespace) -> int:
    """Runs ``tpudist help``: prints the guide ``options.topic``, or which there are; 0."""
    sys.stdout.write(text(options.topic) if options.topic else listed())
    return 0


def text(topic: str) -> str:
    """Returns the text of the guide with a name.

    Raises:
      ArgumentError: there is none.
    """
    known = paths()
    if topic not in known:
        raise ArgumentError(
            "help %s" % topic,
            "there is no such guide",
            "tpudist help " + "|".join(known) + ", or tpudist VERB --help",
        )
    with open(known[topic], encoding="utf-8") as file:
        return file.read()


def listed() -> str:
    """A line for each guide: its name, and its title."""
    titles = {name: text(name).partition("\n")[0].lstrip("# ") for name in paths()}
    lines = ["tpudist help %-16s %s" % item for item in titles.items()]
    return "\n".join(lines) + "\n"


def paths() -> dict[str, str]:
    """{name of a guide: its path}, sorted by name."""
    folders = [
        os.path.join(machine.PACKAGE, "guides"),
        os.path.join(os.path.dirname(machine.PACKAGE), "examples", "guides"),
    ]
    folder = next(filter(os.path.isdir, folders))
    names = sorted(name for name in os.listdir(folder) if name.endswith(".md"))
    return {name[: -len(".md")]: os.path.join(folder, name) for name in names}
