"""Options from ``pyproject.toml`` or ``setup.cfg``; those of the command line win.

[tool.tpudist.migrate]          [tpudist:migrate]
to = "latest"                   to = latest
exclude = ["third_party"]       exclude = third_party
"""

from __future__ import annotations

import configparser
import os
from typing import TYPE_CHECKING

from tpudist.errors import MigrateError
from tpudist.tools.migrate.options import ORIGINS, TARGETS

if TYPE_CHECKING:
    import argparse
    from typing import Any

_LISTS = ("exclude", "only", "skip")
_NUMBERS = {"jobs": int, "time-limit": float}
_CHOICES = {"to": TARGETS, "from": ORIGINS, "level": ("full", "import")}
_SECTION = "tpudist:migrate"
_TABLE = "[tool.tpudist.migrate]"


def apply(options: argparse.Namespace) -> None:
    """Gives options that the command line does not, from the nearest file that has some.

    Args:
      options: parsed; changed in place. A file is looked for from the first
        path upwards, to the root of its repository.

    Raises:
      MigrateError: a file has an option or a value that there is none of.
    """
    path, found = _nearest(_start(options))
    for name, value in found.items():
        name = name.replace("_", "-")
        if name not in _LISTS and name not in _NUMBERS and name not in _CHOICES:
            raise _error(path, "%s = %r" % (name, value), "there is no such option")
        _give(options, name, _read(path, name, value))


def _start(options: argparse.Namespace) -> str:
    first = options.paths[0] if options.paths and options.paths != ["-"] else "."
    first = os.path.abspath(first)
    return first if os.path.isdir(first) else os.path.dirname(first)


def _nearest(folder: str) -> tuple[str, dict[str, Any]]:
    while True:
        for name, read in (("pyproject.toml", _of_toml), ("setup.cfg", _of_cfg)):
            path = os.path.join(folder, name)
            found = read(path) if os.path.isfile(path) else None
            if found is not None:
                return path, found
        above = os.path.dirname(folder)
        if above == folder or os.path.exists(os.path.join(folder, ".git")):
            return "", {}
        folder = above


def _of_cfg(path: str) -> dict[str, Any] | None:
    parser = configparser.ConfigParser(interpolation=None)
    try:
        parser.read(path, encoding="utf-8")
    except (configparser.Error, UnicodeDecodeError):
        return None  # somebody else's
    return dict(parser[_SECTION]) if parser.has_section(_SECTION) else None


def _of_toml(path: str) -> dict[str, Any] | None:
    with open(path, "rb") as file:
        raw = file.read()
    if b"tpudist" not in raw:
        return None
    try:
        import tomllib
    except ImportError:  # Python 3.10 and before
        if _TABLE.encode() not in raw:
            return None
        raise _error(path, _TABLE, "this Python reads no TOML") from None
    found = tomllib.loads(raw.decode("utf-8")).get("tool", {}).get("tpudist", {})
    return found.get("migrate")


def _read(path: str, name: str, value: Any) -> Any:
    if name in _LISTS:
        values = value if isinstance(value, list) else str(value).replace(",", "\n").split("\n")
        return [str(each).strip() for each in values if str(each).strip()]
    if name in _NUMBERS:
        try:
            return _NUMBERS[name](value)
        except (TypeError, ValueError):
            raise _error(path, "%s = %r" % (name, value), "it is no number") from None
    if value not in _CHOICES[name]:
        raise _error(path, "%s = %r" % (name, value), "it is none of " + ", ".join(_CHOICES[name]))
    return value


def _give(options: argparse.Namespace, name: str, value: Any) -> None:
    key = {"from": "origin"}.get(name, name.replace("-", "_"))
    unset = {"origin": "auto", "level": "full", "time_limit": 60.0}.get(key)
    if name in _LISTS:
        setattr(options, key, getattr(options, key) + value)
    elif getattr(options, key) == unset:
        setattr(options, key, value)


def _error(path: str, seen: str, why: str) -> MigrateError:
    return MigrateError(
        "%s in %s" % (seen, path), why, "the same in setup.cfg, or see tpudist migrate --help"
    )
