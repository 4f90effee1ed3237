"""``tpudist doctor``: what is installed, what cannot work together, what to type.

TensorFlow is imported only in a separate process, so the doctor reports even
where it is missing, hangs or kills the process. It uses no network but for the TPU
that ``--tpu`` names (:mod:`look`). To change: a check
(:mod:`checks`), with a case in tests/tools/doctor/machines.py.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Sequence, TextIO

from tpudist import console

if TYPE_CHECKING:
    from tpudist.tools.doctor.environment import Environment


def run(
    as_json: bool = False,
    environment: Environment | None = None,
    out: TextIO | None = None,
    look: Sequence[str] = (),
) -> int:
    """Prints the report; the number returned is the exit code.

    Args:
      as_json: prints one JSON object (keys only ever get added) instead of text.
      environment: an ``Environment`` to judge instead of this machine.
      out: the text stream to write to; standard output if None.
      look: which TPU to ask for its state: arguments of :mod:`look`, its name first.

    Returns:
      0 if nothing is wrong (notes do not count), 1 if there are problems.
    """
    from tpudist.tools.doctor import checks, report
    from tpudist.tools.doctor import environment as environments
    from tpudist.tools.doctor.checks import PROBLEM

    with console.working("looking at TensorFlow"):
        environment = environment or environments.detect(look)
    findings = checks.diagnose(environment)
    write = report.as_json if as_json else report.as_text
    (out or sys.stdout).write(write(environment, findings))
    return int(any(finding.level == PROBLEM for finding in findings))
