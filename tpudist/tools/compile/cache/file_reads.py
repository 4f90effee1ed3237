"""Records the files and folders that this process reads, by Python's audit events.

What TensorFlow reads in C++ raises no event; :mod:`source_names` finds the code that may
ask for it.

Reference: peps.python.org/pep-0578, "Python Runtime Audit Hooks".
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.machinery
import importlib.util
import os
import sys
import sysconfig
import tempfile
import threading
from typing import TYPE_CHECKING, NamedTuple

from tpudist import machine

if TYPE_CHECKING:
    from types import FrameType
    from typing import Any, Iterator

#: Prefixes of the events of input that comes from no file.
_OTHER_INPUT = (
    *("socket.", "subprocess.", "urllib.", "http.", "ftplib.", "sqlite3.", "os.system"),
    *("os.exec", "os.fork", "os.posix_spawn", "os.spawn", "os.startfile", "pty."),
)

#: Folders whose files are the system's state.
_SYSTEM_FOLDERS = ("/proc/", "/sys/", "/dev/")

#: File names of Python's import system: the importer, and the finder of modules.
_IMPORTER = "<frozen importlib._bootstrap>"
_FINDER = "<frozen importlib._bootstrap_external>"

#: The most bytes of files that are digested to find out whether they changed.
_MAX_DIGESTED = 1 << 28

_stdlib = tuple(
    os.path.join(os.path.realpath(sysconfig.get_path(name)), "")
    for name in ("stdlib", "platstdlib")
)


class Reads(NamedTuple):
    """What a run read.

    Args:
      files: {path: [size, modification time, change time, inode, digest or None]}, or
        None in place of the list if there was no such file.
      folders: [path, whether only importable names count, names or None] of each
        folder that was listed.
      code: paths of the user's Python files.
    """

    files: dict[str, Any]
    folders: list[Any]
    code: list[str]


class Unknown(Exception):
    """It is not known what a run read; the message says why."""


class _State:
    """The recorder that gets events, if any, and the threads whose events are not recorded."""

    recorder: Recorder | None = None
    hooked = False
    unrecorded_threads: set[int] = set()


def can_record() -> bool:
    """Whether this Python has audit events, and TensorFlow is not loaded yet."""
    return hasattr(sys, "addaudithook") and "tensorflow" not in sys.modules


@contextlib.contextmanager
def unrecorded() -> Iterator[None]:
    """Records nothing that this thread does in the block: it is tpudist's, not the user's."""
    thread = threading.get_ident()
    outermost = thread not in _State.unrecorded_threads
    _State.unrecorded_threads.add(thread)
    try:
        yield
    finally:
        if outermost:
            _State.unrecorded_threads.discard(thread)


@contextlib.contextmanager
def recorded() -> Iterator[Recorder]:
    """Records what is read in the block; yields its `Recorder`."""
    if not _State.hooked:
        sys.addaudithook(_hook)  # for good: Python cannot remove it
        _State.hooked = True
    _State.recorder = recorder = Recorder()
    try:
        yield recorder
    finally:
        _State.recorder = None


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    recorder = _State.recorder
    if recorder is None or threading.get_ident() in _State.unrecorded_threads:
        return
    if event in ("open", "os.listdir", "os.scandir") or event.startswith(_OTHER_INPUT):
        with unrecorded():
            recorder.add(event, arguments, sys._getframe(1))


class Recorder:
    """Collects audit events; :meth:`reads` returns what was read."""

    def __init__(self) -> None:
        self._files: dict[str, Any] = {}
        self._written: set[str] = set()
        self._temporary_files: set[str] = set()
        self._folders: dict[tuple[str, bool], Any] = {
            (os.path.abspath(path), True): names(path or ".", True)
            for path in [*sys.path, *sys.path_importer_cache]  # the finder has listed them before
        }
        self._temporary_folder = tempfile.gettempdir()  # opens files, so not within the hook
        self._why_unknown = ""

    def add(self, event: str, arguments: tuple[Any, ...], frame: FrameType) -> None:
        """Adds an event that a frame raised."""
        try:
            if event == "open":
                self._opened(arguments[0], arguments[2], frame)
            elif event in ("os.listdir", "os.scandir"):
                self._listed(arguments[0], frame)
            elif _is_by_user(frame):
                self._why_unknown = self._why_unknown or event
        except Exception as error:  # the user's program must not fail of it
            self._why_unknown = self._why_unknown or "%s: %s" % (event, error)

    def _opened(self, file: Any, flags: int, frame: FrameType) -> None:
        if isinstance(file, int):
            return
        path = os.path.abspath(os.fsdecode(file))
        if path.startswith(_SYSTEM_FOLDERS):
            if not path.startswith("/dev/") and _is_by_user(frame):
                self._why_unknown = self._why_unknown or path
            return
        path = _source(path)
        if os.path.isdir(path) or path in self._temporary_files:
            return
        if flags & (os.O_WRONLY | os.O_RDWR):
            self._opened_to_write(path, frame)
        elif path not in self._written:
            self._files.setdefault(path, _status(path))

    def _opened_to_write(self, path: str, frame: FrameType) -> None:
        if "__pycache__" in path.split(os.sep):
            return
        if os.path.dirname(path) == self._temporary_folder and not os.path.exists(path):
            self._temporary_files.add(path)
        elif _is_by_user(frame):
            self._why_unknown = self._why_unknown or "it writes %s" % path
        else:
            self._written.add(path)

    def _listed(self, folder: Any, frame: FrameType) -> None:
        if isinstance(folder, int):
            raise ValueError("a folder by its descriptor")
        path = os.path.abspath(os.fsdecode(folder or "."))
        importable = frame.f_code.co_filename == _FINDER
        self._folders.setdefault((path, importable), names(path, importable))

    def reads(self) -> Reads:
        """Returns the `Reads` of all events.

        Raises:
          Unknown: something else than files was read, or a file changed meanwhile.
        """
        if self._why_unknown:
            raise Unknown(self._why_unknown)
        statuses = dict(self._files)
        for path in (_loaded() | self._written) - self._temporary_files:
            statuses.setdefault(path, _status(path))
        left = _MAX_DIGESTED
        files: dict[str, Any] = {}
        for path, before in statuses.items():
            if _status(path) != before:
                raise Unknown("%s changed meanwhile" % path)
            digested = before is not None and not is_installed(path)
            left -= before[0] if digested else 0
            if left < 0:
                raise Unknown("it reads too much: %s" % path)
            files[path] = before and [*before, digest(path) if digested else None]
        for (path, importable), listed in self._folders.items():
            if names(path, importable) != listed:
                raise Unknown("%s changed meanwhile" % path)
        folders = [
            [path, importable, listed] for (path, importable), listed in self._folders.items()
        ]
        code = [path for path in files if path.endswith(".py") and files[path] and _is_users(path)]
        return Reads(files, folders, sorted(code))


def changed(files: dict[str, Any], folders: list[Any]) -> str:
    """Returns the first path whose content has changed, "" if none has.

    Args:
      files, folders: of a `Reads`.
    """
    for path, before in files.items():
        now = _status(path)
        if before is None or now is None:
            same = before is None and now is None
        else:
            same = before[:-1] == now if before[-1] is None else digest(path) == before[-1]
        if not same:
            return path
    for path, importable, listed in folders:
        if names(path, importable) != listed:
            return path
    return ""


def is_installed(path: str) -> bool:
    """Whether a file is Python's own or of an installed package."""
    return machine.is_installed(path) or os.path.realpath(path).startswith(_stdlib)


def names(path: str, importable: bool) -> list[str] | None:
    """Returns the names in a folder, sorted; None if there is no such folder.

    Args:
      path: of the folder.
      importable: only those that ``import`` may find.
    """
    try:
        listed = sorted(os.listdir(path))
    except OSError:
        return None
    if not importable:
        return listed
    suffixes = tuple(importlib.machinery.all_suffixes())
    return [
        name
        for name in listed
        if (name.endswith(suffixes) or "." not in name) and name != "__pycache__"
    ]


def digest(path: str) -> str:
    """Returns the SHA-256 digest of a file's content."""
    hashed = hashlib.sha256()
    with open(path, "rb") as file:
        for part in iter(lambda: file.read(1 << 20), b""):
            hashed.update(part)
    return hashed.hexdigest()


def _status(path: str) -> list[int] | None:
    """Returns numbers that change whenever a file does, None if there is no such file."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return [status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino]


def _source(path: str) -> str:
    """Returns the path of the source for a compiled file; of other files, their own path."""
    if os.sep + "__pycache__" + os.sep in path:
        try:
            return importlib.util.source_from_cache(path)
        except ValueError:
            return path
    return path


def _loaded() -> set[str]:
    """Returns the paths of loaded modules and shared libraries."""
    files = [getattr(each, "__file__", None) for each in list(sys.modules.values())]
    paths = {os.path.abspath(path) for path in files if isinstance(path, str)}
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
        for line in maps:
            path = line.rstrip("\n").partition("/")[2]
            if path.endswith(".so") or ".so." in path:
                paths.add("/" + path)
    return {path for path in paths if os.path.isfile(path)}


@functools.lru_cache(maxsize=None)
def _is_users(path: str) -> bool:
    return not (
        path.startswith("<")
        or is_installed(path)
        or os.path.abspath(path).startswith(os.path.join(machine.PACKAGE, ""))
    )


def _is_by_user(frame: FrameType | None) -> bool:
    """Whether the user's code raised an event, and not a package while it is imported."""
    main = threading.current_thread() is threading.main_thread()
    while frame is not None:
        name = frame.f_code.co_filename
        if name == _IMPORTER:
            return False
        if _is_users(name):
            return True
        frame = frame.f_back
    return not main
