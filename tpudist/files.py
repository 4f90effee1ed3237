"""Files that several processes write: whole or not at all, one writer at a time."""

from __future__ import annotations

import contextlib
import os
import tempfile
from typing import TYPE_CHECKING, Iterator, Union

if TYPE_CHECKING:
    PathLike = Union[str, "os.PathLike[str]"]


try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


def write(path: PathLike, text: str) -> None:
    """Replaces a file by `text`, as UTF-8, in one step: a reader sees the old or the new.

    Its folder is made if it is not there, its mode is kept.
    """
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: PathLike, content: bytes) -> None:
    """As :func:`write`, of bytes."""
    path = os.path.abspath(str(path))
    os.makedirs(os.path.dirname(path), exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=os.path.dirname(path), prefix=".", suffix=".tmp")
    try:
        with open(handle, "wb") as file:
            file.write(content)
        os.chmod(temporary, _mode(path))
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _mode(path: str) -> int:
    """The permissions of a file, or those that a new one gets."""
    if os.path.exists(path):
        return os.stat(path).st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


@contextlib.contextmanager
def locked(path: PathLike) -> Iterator[None]:
    """Holds the lock file `path`; waits while another process does.

    The lock goes with the process, however it ends. Where the system has no
    such locks (Windows) there is none: two writers may then repeat each
    other's work, but :func:`write` still leaves whole files.
    """
    os.makedirs(os.path.dirname(os.path.abspath(str(path))), exist_ok=True)
    with open(str(path), "a", encoding="utf-8") as file:
        if fcntl:
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
