"""What a check of the doctor's finds."""

from __future__ import annotations

import typing


class Finding(typing.NamedTuple):
    """What a check found.

    Args:
      level: PROBLEM or NOTE.
      check: the name of the function that found it; stable, as in ``--json``.
      seen, why, instead: as in a ``TpudistError``.
    """

    level: str
    check: str
    seen: str
    why: str
    instead: str


PROBLEM, NOTE = "problem", "note"
