"""Stores answers of the compiler as JSON files, up to a total size.

They are in the folder that ``tpudist matrix`` keeps its environments in too
(``TPUDIST_CACHE``). A file's modification time is the time of its last use. Whenever a
file is written, files that were not used for a month are removed, and then, while there is
more than ``TPUDIST_CACHE_SIZE``, those whose last use is longest ago.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import time
from typing import Any, Iterator, Mapping

import tpudist
from tpudist import files, machine
from tpudist.errors import ArgumentError
from tpudist.tools.compile.pages import units

#: Version of the stored answers.
_FORMAT = 3

#: The variable that limits the size of what is stored, such as ``500MiB``, and its default.
SETTING = "TPUDIST_CACHE_SIZE"
_DEFAULT_LIMIT = 1 << 30

#: The folder, and the suffixes of its files: complete ones, and ones being written.
_FOLDER = "compile"
_COMPLETE, _INCOMPLETE = ".json", ".tmp"

#: Seconds after its last use in which a file is removed; in which an incomplete one is; and
#: in which no file is removed, because a run that goes on may read it again.
_UNUSED, _ABANDONED, _IN_USE = 30 * 86400, 86400, 3600


def answer_path(hlo: bytes, request: Mapping[str, Any], compiler: str) -> str:
    """Returns the path of the answer for a normalized program, its request and the compiler.

    Args:
      request: what else the compiler gets, of JSON types.
      compiler: text that changes when the compiler does.
    """
    key = json.dumps([_FORMAT, tpudist.__version__, compiler, request], sort_keys=True)
    digest = hashlib.sha256(key.encode() + b"\0" + hlo).hexdigest()
    return os.path.join(machine.cache_folder(), _FOLDER, digest + ".json")


def read(path: str) -> Any:
    """Returns an entry, and notes that it was used; None if there is none, or it cannot be read."""
    try:
        with open(path, encoding="utf-8") as file:
            with contextlib.suppress(OSError):
                os.utime(file.fileno())
            return json.load(file)
    except (OSError, ValueError):
        return None


def write(path: str, content: Any) -> bool:
    """Writes an entry, and removes others to keep the limit; False if it cannot be written."""
    try:
        files.write(path, json.dumps(content))
        prune(os.path.dirname(path))
    except OSError:
        return False
    return True


def limit() -> int:
    """Returns how many bytes may be stored; a setting that is no size raises an ArgumentError."""
    setting = os.environ.get(SETTING)
    if not setting:
        return _DEFAULT_LIMIT
    try:
        return units.parsed(setting)
    except ValueError as error:
        raise ArgumentError(
            "%s=%s" % (SETTING, setting), "it is no size", "a size such as %s=500MiB" % SETTING
        ) from error


def prune(folder: str, now: float | None = None) -> None:
    """Removes files that are too old, and then the oldest ones above the limit.

    A file that was used within the last hour stays, also one that another process uses
    meanwhile.
    """
    now = time.time() if now is None else now
    entries = list(_entries(folder))
    excess = sum(size for _, size, path in entries if path.endswith(_COMPLETE)) - limit()
    for used, size, path in sorted(entries):
        if path.endswith(_COMPLETE) and (excess > 0 or now - used > _UNUSED):
            excess -= size * _remove(path, now - _IN_USE)
        elif path.endswith(_INCOMPLETE):
            _remove(path, now - _ABANDONED)


def _entries(folder: str) -> Iterator[tuple[float, int, str]]:
    """Yields (time of the last use, size, path) of each file."""
    with contextlib.suppress(OSError), os.scandir(folder) as listing:
        for each in listing:
            with contextlib.suppress(OSError):  # another process may remove it
                status = each.stat(follow_symlinks=False)
                yield status.st_mtime, status.st_size, each.path


def _remove(path: str, before: float) -> bool:
    """Removes a file that was last used before a time; False if it is in use again."""
    with contextlib.suppress(OSError):  # another process may have removed it
        if os.stat(path).st_mtime <= before:
            os.unlink(path)
    return not os.path.exists(path)
