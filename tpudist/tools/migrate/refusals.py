"""Why a file is refused."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import libcst

from tpudist.tools.migrate.resolution import python_trees

if TYPE_CHECKING:
    from tpudist.tools.migrate.resolution import sources


def reason(error: Exception, source: sources.Source | None) -> str:
    """Why a file is refused, in the words of the error and what to do.

    Args:
      error: why it cannot be read.
      source: its `Source`; None if not even its text can be read.
    """
    if isinstance(error, libcst.ParserSyntaxError):
        text = "%d:%d: not Python 3 (%s)" % _where(error, source)
        return text + "; if it is Python 2, run 2to3 -w on it first"
    if isinstance(error, SyntaxError):
        text = "%s:%s: Python %d.%d does not read it" % (
            error.lineno,
            error.offset,
            *sys.version_info[:2],
        )
        return "%s (%s); run tpudist migrate with a newer Python" % (text, error.msg)
    if isinstance(error, RecursionError):
        return "its expressions are nested too deeply to be read; write them on several lines"
    return "%s: %s" % (type(error).__name__, error)


def _where(error: libcst.ParserSyntaxError, source: sources.Source | None) -> tuple[int, int, str]:
    """(line, column, words) of what libcst cannot read; its own line is one that is near."""
    try:
        python_trees.parse(source.text if source else "")
    except SyntaxError as found:
        return found.lineno or 1, found.offset or 1, found.msg
    except (ValueError, RecursionError):
        pass
    return error.raw_line, error.raw_column + 1, error.message.partition(": expected one of")[0]
