"""What this process reads: files and folders, as Python's audit events tell it.

TensorFlow's own reading in C++ raises no event: :mod:`tpudist.tools.compile.live_names` finds
who asks for it.

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

#: Events, or what they begin with, of what no file says.
_ELSEWHERE = (
    *("socket.", "subprocess.", "urllib.", "http.", "ftplib.", "sqlite3.", "os.system"),
    *("os.exec", "os.fork", "os.posix_spawn", "os.spawn", "os.startfile", "pty."),
)

#: Folders of no files.
_DEVICES = ("/proc/", "/sys/", "/dev/")

_IMPORTING = "<frozen importlib._bootstrap>"
_FINDING = "<frozen importlib._bootstrap_external>"

#: Bytes of files that are read whole to tell whether they changed, at most.
_MOST = 1 << 28

_stdlib = tuple(
    os.path.join(os.path.realpath(sysconfig.get_path(name)), "")
    for name in ("stdlib", "platstdlib")
)


class Witness(NamedTuple):
    """What a run read.

    Args:
      files: {path: [size, times, number, digest or None] or None if there was none}.
      folders: [path, whether as Python's import lists it, names or None].
      code: paths of the user's Python files.
    """

    files: dict[str, Any]
    folders: list[Any]
    code: list[str]


class Unknown(Exception):
    """What a run read is not known; the message says why."""


class _State:
    """The recorder that events go to, if any, and the threads whose events are our own."""

    recorder: Recorder | None = None
    hooked = False
    ours: set[int] = set()


def can_record() -> bool:
    """Whether this Python tells what it reads, and TensorFlow is not there already."""
    return hasattr(sys, "addaudithook") and "tensorflow" not in sys.modules


@contextlib.contextmanager
def unnoted() -> Iterator[None]:
    """Context manager: what this thread does inside is no input of the user's program."""
    me = threading.get_ident()
    first = me not in _State.ours
    _State.ours.add(me)
    try:
        yield
    finally:
        if first:
            _State.ours.discard(me)


@contextlib.contextmanager
def recorded() -> Iterator[Recorder]:
    """Context manager: yields a `Recorder` of what is read inside."""
    if not _State.hooked:
        sys.addaudithook(_hook)  # for good: Python has no way to take it away
        _State.hooked = True
    _State.recorder = recorder = Recorder()
    try:
        yield recorder
    finally:
        _State.recorder = None


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    recorder, me = _State.recorder, threading.get_ident()
    if recorder is None or me in _State.ours:
        return
    if event == "open" or event in ("os.listdir", "os.scandir") or event.startswith(_ELSEWHERE):
        with unnoted():
            recorder.note(event, arguments, sys._getframe(1))


class Recorder:
    """Notes events; :meth:`settled` says what they come to."""

    def __init__(self) -> None:
        self._files: dict[str, Any] = {}
        self._written: set[str] = set()
        self._own: set[str] = set()
        self._folders: dict[tuple[str, bool], Any] = {
            (os.path.abspath(path), True): names(path or ".", True)
            for path in [*sys.path, *sys.path_importer_cache]  # listed before this one is there
        }
        self._temporary = tempfile.gettempdir()  # it opens files: not to be asked in a hook
        self._why = ""

    def note(self, event: str, arguments: tuple[Any, ...], frame: FrameType) -> None:
        """Takes in an event that a frame raised."""
        try:
            if event == "open":
                self._opened(arguments[0], arguments[2], frame)
            elif event in ("os.listdir", "os.scandir"):
                self._listed(arguments[0], frame)
            elif _asked_by_user(frame):
                self._why = self._why or event
        except Exception as error:  # the user's program must not notice
            self._why = self._why or "%s: %s" % (event, error)

    def _opened(self, given: Any, flags: int, frame: FrameType) -> None:
        if isinstance(given, int):
            return
        path = os.path.abspath(os.fsdecode(given))
        if path.startswith(_DEVICES):
            if not path.startswith("/dev/") and _asked_by_user(frame):
                self._why = self._why or path
            return
        path = _source(path)
        if os.path.isdir(path) or path in self._own:
            return
        if flags & (os.O_WRONLY | os.O_RDWR):
            self._wrote(path, frame)
        elif path not in self._written:
            self._files.setdefault(path, _state(path))

    def _wrote(self, path: str, frame: FrameType) -> None:
        if "__pycache__" in path.split(os.sep):
            return
        if os.path.dirname(path) == self._temporary and not os.path.exists(path):
            self._own.add(path)
        elif _asked_by_user(frame):
            self._why = self._why or "it writes %s" % path
        else:
            self._written.add(path)

    def _listed(self, given: Any, frame: FrameType) -> None:
        if isinstance(given, int):
            raise ValueError("a folder by its descriptor")
        path = os.path.abspath(os.fsdecode(given or "."))
        imports = frame.f_code.co_filename == _FINDING
        self._folders.setdefault((path, imports), names(path, imports))

    def settled(self) -> Witness:
        """The `Witness` of all events.

        Raises:
          Unknown: something else than files was asked, or one changed meanwhile.
        """
        if self._why:
            raise Unknown(self._why)
        files = dict(self._files)
        for path in (_loaded() | self._written) - self._own:
            files.setdefault(path, _state(path))
        left, found = _MOST, {}
        for path, before in files.items():
            if _state(path) != before:
                raise Unknown("%s changed meanwhile" % path)
            digested = before is not None and not is_installed(path)
            left -= before[0] if digested else 0
            if left < 0:
                raise Unknown("it reads too much: %s" % path)
            found[path] = before and [*before, digest(path) if digested else None]
        for (path, imports), listed in self._folders.items():
            if names(path, imports) != listed:
                raise Unknown("%s changed meanwhile" % path)
        folders = [[path, imports, listed] for (path, imports), listed in self._folders.items()]
        code = [path for path in found if path.endswith(".py") and found[path] and _is_users(path)]
        return Witness(found, folders, sorted(code))


def changed(files: dict[str, Any], folders: list[Any]) -> str:
    """The first path that is not what it was, "" if all are.

    Args:
      files, folders: of a `Witness`.
    """
    for path, before in files.items():
        now = _state(path)
        if before is None or now is None:
            same = before is None and now is None
        else:
            same = before[:-1] == now and (before[-1] is None or digest(path) == before[-1])
            same = same or before[-1] is not None and digest(path) == before[-1]
        if not same:
            return path
    for path, imports, listed in folders:
        if names(path, imports) != listed:
            return str(path)
    return ""


def is_installed(path: str) -> bool:
    """Whether a file is Python's own or of an installed package."""
    return machine.is_installed(path) or os.path.realpath(path).startswith(_stdlib)


def names(path: str, imports: bool) -> list[str] | None:
    """The names in a folder, sorted; None if there is none.

    Args:
      path: of the folder.
      imports: only those that ``import`` may find.
    """
    try:
        found = sorted(os.listdir(path))
    except OSError:
        return None
    if not imports:
        return found
    ends = tuple(importlib.machinery.all_suffixes())
    return [
        each for each in found if (each.endswith(ends) or "." not in each) and each != "__pycache__"
    ]


def digest(path: str) -> str:
    """Of a file's content."""
    found = hashlib.sha256()
    with open(path, "rb") as file:
        for part in iter(lambda: file.read(1 << 20), b""):
            found.update(part)
    return found.hexdigest()


def _state(path: str) -> list[int] | None:
    """What changes whenever a file does, None if there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return [found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino]


def _source(path: str) -> str:
    """Of compiled code the source, by whose size and time it was chosen."""
    if os.sep + "__pycache__" + os.sep in path:
        try:
            return importlib.util.source_from_cache(path)
        except ValueError:
            return path
    return path


def _loaded() -> set[str]:
    """Files of modules, and libraries in memory."""
    files = [getattr(each, "__file__", None) for each in list(sys.modules.values())]
    found = {os.path.abspath(path) for path in files if isinstance(path, str)}
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
        for line in maps:
            path = line.rstrip("\n").partition("/")[2]
            if path.endswith(".so") or ".so." in path:
                found.add("/" + path)
    return {path for path in found if os.path.isfile(path)}


@functools.lru_cache(maxsize=None)
def _is_users(path: str) -> bool:
    return not (
        path.startswith("<")
        or is_installed(path)
        or os.path.abspath(path).startswith(os.path.join(machine.PACKAGE, ""))
    )


def _asked_by_user(frame: FrameType | None) -> bool:
    """Whether the user's code asked for it, and not a package while it is imported."""
    main = threading.current_thread() is threading.main_thread()
    while frame is not None:
        name = frame.f_code.co_filename
        if name == _IMPORTING:
            return False
        if _is_users(name):
            return True
        frame = frame.f_back
    return not main
