"""The table of TensorFlow releases: which Python, which wheel, which pins.

The only place that knows where the table is and how its rows are written.
"""

from __future__ import annotations

import configparser
import os
import platform
import sys
from typing import Mapping, NamedTuple

from tpudist.errors import MatrixError


class Row(NamedTuple):
    """One TensorFlow release."""

    release: str  # e.g. ``"2.15"``; a second row of 2.16 is ``"2.16-tf-keras"``
    python: str  # the CPython minor it runs on, e.g. ``"3.11"``
    requirement: str  # its wheel, e.g. ``"tensorflow-cpu==2.15.1"``
    constraints: tuple[str, ...]  # further requirements without which it does not work
    environment: dict[str, str]  # {name: value} of variables that it needs
    tpu: tuple[str, ...] = ()  # its wheel for TPUs, and libtpu; empty if it has none

    @property
    def minor(self) -> str:
        """The TensorFlow that the row runs: "2.16" of "2.16-tf-keras"."""
        return self.release.split("-")[0]


def path() -> str:
    """The file of the table."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "releases.cfg")


def read(file: str | None = None) -> dict[str, Row]:
    """{release: Row} of tpudist's own table or another one, oldest first."""
    table = sections(file)
    return {name: _row(name, table[name]) for name in table.sections()}


def sections(file: str | None = None) -> configparser.ConfigParser:
    """The table as it is written."""
    table = configparser.ConfigParser(interpolation=None)
    table.optionxform = str  # type: ignore[method-assign,assignment]
    with open(file or path(), encoding="utf-8") as opened:
        table.read_file(opened)
    return table


def _row(release: str, section: Mapping[str, str]) -> Row:
    pairs = [line.partition("=") for line in lines(section.get("environment", ""))]
    return Row(
        release,
        section["python"],
        wheel(section["requirement"]),
        tuple(lines(section.get("constraints", ""))),
        {name.strip(): value.strip() for name, _, value in pairs},
        tuple(lines(section.get("tpu", ""))),
    )


def lines(text: str) -> list[str]:
    """The lines of a field, without comments."""
    stripped = (line.strip() for line in text.splitlines())
    return [line for line in stripped if line and not line.startswith("#")]


def wheel(requirement: str, system: str = sys.platform, machine: str | None = None) -> str:
    """A row's requirement by this machine's name: ``tensorflow-cpu`` is for x86-64 alone."""
    machine = machine or platform.machine()
    if system != "darwin" and machine in ("x86_64", "AMD64"):
        return requirement
    return requirement.replace("tensorflow-cpu", "tensorflow")


def select(rows: Mapping[str, Row], names: str | None) -> list[Row]:
    """The rows that ``--releases`` asks for (``"1.15,2.2"`` or ``"all"``) in its order, none twice.

    Raises:
      MatrixError: a release is not in the table, or none is asked for.
    """
    if names == "all":
        return list(rows.values())
    wanted = list(dict.fromkeys(name.strip() for name in (names or "").split(",") if name.strip()))
    unknown = [name for name in wanted if name not in rows]
    if unknown or not wanted:
        raise MatrixError(
            "--releases %s" % (",".join(unknown) or "names no release"),
            "the table of releases has %s" % ", ".join(rows),
            "--releases %s, or --releases all" % ",".join(list(rows)[-2:]),
        )
    return [rows[name] for name in wanted]


def constraints(release: str) -> str:
    """Returns the pip constraints with which `tpudist matrix` installs a release.

    `release` is such as "1.15", or "tpu-2.20"; a MatrixError if the table has none of that name.
    """
    rows = dict(read(), **on_tpus())
    if release not in rows:
        raise MatrixError(
            "--constraints %s" % release,
            "it takes one release; the table of them has %s" % ", ".join(rows),
            "tpudist doctor --constraints %s" % list(read())[-2],
        )
    row = rows[release]
    head = "# TensorFlow %s, on Python %s: pip install -c FILE %s"
    pins = [row.requirement, *row.constraints]
    return "\n".join([head % (row.minor, row.python, row.requirement), *pins]) + "\n"


def on_tpus() -> dict[str, Row]:
    """{"tpu-2.20": Row} of the releases that have a wheel for TPUs, which the row requires."""
    return {
        "tpu-" + name: row._replace(
            requirement=row.tpu[0], constraints=row.tpu[1:] + row.constraints
        )
        for name, row in read().items()
        if row.tpu
    }
