"""Why a file is refused."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tpudist.tools.migrate.resolution import sources


def reason(error: Exception, source: sources.Source | None) -> str:
    """Why a file is refused, in the words of the error and what to do.

    Args:
      error: why it cannot be read.
      source: its `Source`; None if not even its text can be read.
    """
    if isinstance(error, SyntaxError) and error.lineno is not None:
        text = "%d:%d: not Python 3 (%s)" % (error.lineno, error.offset or 1, error.msg)
        return (
            text
            + "; if it is Python 2, run 2to3 -w on it first; if it is newer than Python "
            + ("%d.%d, run tpudist migrate with that" % sys.version_info[:2])
        )
    if isinstance(error, RecursionError):
        return "its expressions are nested too deeply to be read; write them on several lines"
    return "%s: %s" % (type(error).__name__, error)
