"""Options from ``pyproject.toml`` or ``setup.cfg``; those of the command line win.

[tool.tpudist.migrate]          [tpudist:migrate]
to = "latest"                   to = latest
exclude = ["third_party"]       exclude = third_party
"""

from __future__ import annotations

import argparse
import configparser
import os
import re
from typing import Any, NoReturn

from tpudist.errors import MigrateError
from tpudist.tools.migrate import options as options_lib

_SECTION = "tpudist:migrate"
_TABLE = "[tool.tpudist.migrate]"


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Raises a wrong option as an error of its file."""
        raise ValueError(message)


def apply(options: argparse.Namespace) -> None:
    """Gives options that the command line does not, from the nearest file that has some.

    The file is looked for from the first path upwards, to the root of its repository. An option
    or a value that there is none of raises a MigrateError.
    """
    path, found = _nearest(_start(options))
    parser = _Parser(allow_abbrev=False)
    options_lib.add(parser)
    for name, value in found.items():
        attribute = {"from": "origin"}.get(name, name.replace("-", "_"))
        is_list = name in options_lib.LISTS
        is_given = getattr(options, attribute, None) != parser.get_default(attribute)
        into = argparse.Namespace() if is_given and not is_list else options
        values = [value]
        if is_list and isinstance(value, str):
            values = [each for each in map(str.strip, re.split("[,\n]", value)) if each]
        elif is_list:
            values = value
        words = ["--%s=%s" % (name.replace("_", "-"), each) for each in values]
        try:
            parser.parse_args([*words, "--", *options.paths], into)
        except ValueError as error:
            raise _error(path, "%s = %r" % (name, value), str(error)) from None


def _start(options: argparse.Namespace) -> str:
    first = os.path.abspath(options.paths[0] if options.paths else ".")
    return first if os.path.isdir(first) else os.path.dirname(first)


def _nearest(folder: str) -> tuple[str, dict[str, Any]]:
    """Finds the nearest file upwards that has options: (path, {option: value})."""
    while True:
        for name in ("pyproject.toml", "setup.cfg"):
            path = os.path.join(folder, name)
            found = _options(path) if os.path.isfile(path) else None
            if found is not None:
                return path, found
        above = os.path.dirname(folder)
        if above == folder or os.path.exists(os.path.join(folder, ".git")):
            return "", {}
        folder = above


def _options(path: str) -> dict[str, Any] | None:
    """The options in a file; None if it has no table of them."""
    with open(path, encoding="utf-8", errors="replace") as file:
        text = file.read()
    if path.endswith(".cfg"):
        parser = configparser.ConfigParser(interpolation=None)
        try:
            parser.read_string(text)
        except configparser.Error:
            return None  # somebody else's
        return dict(parser[_SECTION]) if parser.has_section(_SECTION) else None
    if _TABLE not in text:
        return None
    try:
        import tomllib
    except ImportError:  # Python 3.10 and before
        raise _error(path, _TABLE, "this Python reads no TOML") from None
    found = tomllib.loads(text).get("tool", {}).get("tpudist", {})
    return found.get("migrate")


def _error(path: str, seen: str, why: str) -> MigrateError:
    return MigrateError(
        "%s in %s" % (seen, path), why, "the same in setup.cfg, or see tpudist migrate --help"
    )
