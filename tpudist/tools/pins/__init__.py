"""Pins: values that a test recorded once and compares from then on.

A pytest plugin with a ``pin`` fixture (:mod:`tpudist.tools.pins.fixture`), and the
verbs of ``tpudist pins``. Importing this package, and having the plugin
installed, imports neither TensorFlow nor numpy.
To change: what a value is recorded as (:mod:`values`) and when it agrees (:mod:`compare`).
"""

from __future__ import annotations

import argparse
import subprocess
import sys

#: A test module's pins are in a file of its name with this ending, beside it.
SUFFIX = ".pins.json"


def run(options: argparse.Namespace) -> int:
    """Runs ``tpudist pins``: reports on pins, or records them anew with pytest.

    Args:
      options: parsed ``action``; of a report ``paths`` and ``html`` (a file or None);
        else ``arguments``, which are pytest's, such as a test's id.

    Returns:
      Of a report 0 if every pin agrees on all releases it was recorded on, else 1; else
      pytest's exit code.
    """
    if options.action == "report":
        from tpudist.tools.pins import report

        return report.run(options.paths, options.html)
    pytest = [sys.executable, "-m", "pytest", "--pins-" + options.action]
    return subprocess.call(pytest + options.arguments)
