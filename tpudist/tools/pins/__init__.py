"""Pins: values that a test recorded once and compares from then on.

A pytest plugin with a ``pin`` fixture (:mod:`tpudist.tools.pins.fixture`), and the
verbs of ``tpudist pins``. Importing this package, and having the plugin
installed, imports neither TensorFlow nor numpy.
To change: what a value is recorded as (:mod:`values`) and when it agrees (:mod:`compare`).
"""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse
    from typing import Iterable


#: A test module's pins are in a file of its name with this ending, beside it.
SUFFIX = ".pins.json"


def rerun(flag: str, arguments: Iterable[str]) -> int:
    """``tpudist pins update`` and ``tpudist pins record``: runs pytest with a flag.

    Args:
      flag: ``"--pins-update"`` or ``"--pins-record"``.
      arguments: further arguments of pytest, such as a test's id.

    Returns:
      pytest's exit code.
    """
    return subprocess.call([sys.executable, "-m", "pytest", flag] + list(arguments))


def compared(options: argparse.Namespace) -> int:
    """``tpudist pins report``: which releases agree; see :mod:`tpudist.tools.pins.report`.

    Args:
      options: parsed ``paths``, ``png`` and ``html`` (files or None).

    Returns:
      0 if every pin agrees on all releases it was recorded on, 1 if not.
    """
    from tpudist.tools.pins import report as reports

    return reports.run(options.paths, options.png, options.html)
