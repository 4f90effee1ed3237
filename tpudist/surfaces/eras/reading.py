"""A program is read once, for whatever is to be known of it before it runs."""

from __future__ import annotations

import collections
import os
from typing import TYPE_CHECKING

from tpudist.surfaces.eras import decide, evidence, keras_modes, keras_uses, packages, program

if TYPE_CHECKING:
    from typing import Any, Sequence


Reading = collections.namedtuple("Reading", "decision keras_mode keras_uses faults")
Reading.__doc__ = """What the files of a program tell.

Fields:
  decision: a `decide.Decision`.
  keras_mode: a `keras_modes.Mode`.
  keras_uses: a `keras_uses.Uses`.
  faults: a line of each file that cannot be read: it tells nothing.
"""


def read(
    script: Any, start: str | None = None, also: Sequence[str] = (), left_out: Sequence[str] = ()
) -> Any:
    """Reads a script and the user's modules that it imports. Nothing is run, no error is raised.

    If none of them tells an era, the installed packages that they import do.

    Args:
      script, start, also, left_out: as of `program.files`.

    Returns:
      A `Reading`; what cannot be read is among its faults, and the rest decides.
    """
    clues, modes, uses = [], [], []
    faults: list[Any] = []
    folder = os.path.dirname(os.path.realpath(script))
    walk = program.Walk(script, start, also, left_out)
    try:
        files = list(walk.read(faults))
    except Exception as error:
        files = []
        faults.append((script, error))
    for path, tree in files:
        try:
            told = evidence.collect(tree, path)
            mode = keras_modes.of_file(tree, path)
            use = keras_uses.of_file(tree, path, folder)
        except Exception as error:  # whatever it is, the program may run all the same
            faults.append((path, error))
            continue
        clues += told
        modes.append(mode)
        uses.append(use)
    decision = decide.decide(clues)
    if not decision.decisive:
        others = [each for name in walk.installed.values() for each in packages.names_of(name)]
        decision = decide.decide(clues + [each for each in others if each.kind in packages.TOLD])
    lines = [_line(path, error) for path, error in faults]
    return Reading(decision, keras_modes.first(modes), keras_uses.first(uses), lines)


def _line(path: Any, error: BaseException) -> str:
    words = getattr(error, "seen", None) or "%s: %s" % (type(error).__name__, error)
    words = " ".join(words.split())
    return "%sthe era is found without it" % (
        words + "; " if path in words else "%s cannot be read (%s); " % (path, words)
    )
