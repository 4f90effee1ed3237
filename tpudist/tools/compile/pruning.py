"""What is kept of compilations is bounded: the answers, and whole runs.

Whatever is written removes what nobody used for a month, then, while there is more than
``TPUDIST_CACHE_SIZE``, what was used longest ago. A file's time is that of its last use.
"""

from __future__ import annotations

import contextlib
import os
import time
from typing import TYPE_CHECKING, NamedTuple

from tpudist.errors import ArgumentError
from tpudist.tools.compile import units

if TYPE_CHECKING:
    from typing import Iterable, Iterator, Mapping

#: The variable that says how much is kept, such as ``500MiB``; else `_LIMIT` bytes are.
SETTING = "TPUDIST_CACHE_SIZE"
_LIMIT = 1 << 30

#: The folders of what is kept, and the endings of its files: whole ones, and ones being written.
KINDS = ("compile", "runs")
_WHOLE, _HALF = ".json", ".tmp"

#: Seconds after its last use in which a file goes, in which half of one is left over, and in
#: which a run that goes on may come back to one.
_UNUSED, _LEFT_OVER, _IN_USE = 30 * 86400, 86400, 3600


class _Entry(NamedTuple):
    path: str
    used: float
    size: int


def limit(environ: Mapping[str, str] | None = None) -> int:
    """How many bytes are kept.

    Args:
      environ: variables to read instead of this process' own.

    Raises:
      ArgumentError: (a ValueError) the setting is no size.
    """
    told = (os.environ if environ is None else environ).get(SETTING)
    if not told:
        return _LIMIT
    try:
        return units.parsed(told)
    except ValueError as error:
        raise ArgumentError(
            "%s=%s" % (SETTING, told), "it is no size", "a size such as %s=500MiB" % SETTING
        ) from error


def prune(root: str, now: float | None = None) -> None:
    """Removes what is too old, and of the rest what is too much.

    What was used within the hour stays, as does what another process uses meanwhile.

    Args:
      root: the folder of all that is kept.
      now: the time in seconds; None for the clock's.
    """
    now = time.time() if now is None else now
    entries = [each for kind in KINDS for each in _entries(os.path.join(root, kind))]
    whole = [each for each in entries if each.path.endswith(_WHOLE)]
    over = sum(each.size for each in whole) - limit()
    for each in _oldest_first(whole):
        if over > 0 or now - each.used > _UNUSED:
            over -= each.size * _removed(each, now - _IN_USE)
    for each in entries:
        if each.path.endswith(_HALF):
            _removed(each, now - _LEFT_OVER)


def _entries(folder: str) -> Iterator[_Entry]:
    with contextlib.suppress(OSError), os.scandir(folder) as found:
        for each in found:
            with contextlib.suppress(OSError):  # another process removes it
                told = each.stat(follow_symlinks=False)
                yield _Entry(each.path, told.st_mtime, told.st_size)


def _oldest_first(entries: Iterable[_Entry]) -> list[_Entry]:
    return sorted(entries, key=lambda each: each.used)


def _removed(entry: _Entry, before: float) -> bool:
    """Removes a file that was last used before a time; False if it is in use again."""
    try:
        if os.stat(entry.path).st_mtime > before:
            return False
        os.unlink(entry.path)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True
