"""A GitHub workflow that runs what ``tpudist matrix`` runs here."""

from __future__ import annotations

import argparse
import shlex
from typing import Sequence

import tpudist
from tpudist.errors import MatrixError
from tpudist.toolbox.table import Row

#: The Python that tpudist itself runs on in CI; a release brings its own.
_OWN_PYTHON = "3.12"

_GITHUB = """\
# Written by: {written}
name: tpudist
on: [push, pull_request]
jobs:
  tensorflow:
    name: TensorFlow ${{{{ matrix.release }}}}
    runs-on: ${{{{ matrix.os }}}}
    strategy:
      fail-fast: false
      matrix:
        include:
{cells}
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with:
          python-version: |
            ${{{{ matrix.python }}}}
            {own}
      - uses: actions/cache@v4
        with:
          path: ~/.cache/uv
          key: tpudist-${{{{ matrix.release }}}}-${{{{ hashFiles('setup.*', 'pyproject.toml') }}}}
          restore-keys: tpudist-${{{{ matrix.release }}}}-
      - run: python -m pip install "tpudist[matrix]=={version}"
      - run: |
          {command}
"""


def github(rows: Sequence[Row], options: argparse.Namespace) -> str:
    """A GitHub workflow with one job per release, as text."""
    cells = "\n".join(
        '          - {release: "%s", python: "%s", os: %s}'
        % (row.release, row.python, _runner(row))
        for row in rows
    )
    return _GITHUB.format(
        written=_command(_names(rows), options).replace("matrix", "matrix --github", 1),
        cells=cells,
        own=_OWN_PYTHON,
        version=tpudist.__version__,
        command=_command("${{ matrix.release }}", options),
    )


def _runner(row: Row) -> str:
    """GitHub's newer images have no Python 3.7."""
    return "ubuntu-22.04" if row.python == "3.7" else "ubuntu-latest"


def _names(rows: Sequence[Row]) -> str:
    return ",".join(row.release for row in rows)


def _command(releases: str, options: argparse.Namespace) -> str:
    """The ``tpudist matrix`` command of the same options; it has no line breaks."""
    if any("\n" in each for each in options.arguments):
        raise MatrixError(
            "a command of several lines: %r" % (options.arguments,),
            "a CI configuration has one line for it",
            "a script in your project: tpudist matrix ... -- python script.py",
        )
    given = [
        ("--project", options.project, "."),
        *(("--with", each, None) for each in options.extra),
        ("--tpu", options.tpu, "virtual:8"),
        ("--table", options.table, None),
    ]
    words = ["tpudist", "matrix", "--releases", releases]
    for flag, value, default in given:
        words += [flag, shlex.quote(value)] if value != default else []
    if options.fail_fast:
        words.append("--fail-fast")
    if options.arguments:
        words += ["--"] + [shlex.quote(each) for each in options.arguments]
    return " ".join(words)
