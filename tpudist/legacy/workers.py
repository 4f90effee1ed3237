"""Patches for a program on a worker of a cluster: files that the chief alone keeps, and Sessions.

A program of a TPU has one process that writes. On a cluster every worker runs it: the others
save as well, because TensorFlow adds over the workers what a variable holds of each, but into a
folder of their own. It adds in Sessions of the worker's server alone; in others it would wait for
ever.
"""

from __future__ import annotations

import contextlib
import faulthandler
import functools
import inspect
import itertools
import os
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING, Any, Callable, Iterator

from tpudist import console, machine
from tpudist.errors import TpudistError
from tpudist.legacy import late_workers, own_files, quirks
from tpudist.system import tasks

if TYPE_CHECKING:
    from tpudist.annotations import Fn
    from tpudist.tfcompat.annotations import Nest

#: Seconds that it takes to say which workers have not come.
_TOLD = 10.0

#: Seconds after which a file that the chief does not open is taken for a worker's own.
_OWN = 60

#: The beginning of the name of the folder that is deleted.
_FOLDER = "tpudist-worker-"

#: The parameters of what writes beside the program, as long as it runs.
_UNTIMED = ("logdir", "filename")


@contextlib.contextmanager
def as_this_worker() -> Iterator[None]:
    """Context manager: Sessions are of this worker's server, and only the chief's files are kept.

    On other workers TensorFlow writes into a folder that is deleted after: checkpoints, summaries,
    SavedModels, and the HDF5 and ``.keras`` files of Keras; what Python or another package writes
    is kept, which one line says. They go on when the chief has written its own, so that what is
    read is what was saved.
    """
    with contextlib.ExitStack() as undo:
        folder = undo.enter_context(tempfile.TemporaryDirectory(prefix=_FOLDER))
        _look_for_the_chiefs_file()
        names = map(functools.partial(os.path.join, folder), map(str, itertools.count()))
        patches = [*_writers(names), *_restores(), *_sessions(), *own_files.reported()]
        undo.enter_context(quirks.patched(patches))
        yield


def leave() -> None:
    """Waits a minute at most until all workers are here: the chief is asked for what it wrote."""
    import tensorflow as tf

    from tpudist.backends import replica_checks
    from tpudist.tfcompat import clusters

    own = tasks.own()
    clusters.end(own.number)
    clusters.say_written("end of worker %d" % own.number, "")
    with contextlib.suppress(tf.errors.OpError):  # Others are gone.
        replica_checks.compare_all()
    with contextlib.suppress(TpudistError, tf.errors.OpError):  # Others are gone, or slow.
        for worker in [0] if own.number else range(1, own.workers):
            clusters.wait_until_written("end of worker %d" % worker, "", 60)


def _look_for_the_chiefs_file() -> None:
    """Reports, on a worker whose working folder lacks a file of the chief's, that it is another.

    The chief's file is there until all workers have looked.
    """
    from tpudist.tfcompat import clusters

    folder, own = os.getcwd(), tasks.own()
    if not own.is_chief:
        path = clusters.wait_until_written("folder", "")
        is_seen = not path or os.path.exists(os.path.basename(path))
        clusters.say_written("folder seen by worker %d" % own.number, "")
        if not is_seen:
            console.note(
                "tpudist run: worker %d does not see in %s what the chief writes in %s, so it "
                "cannot read what the program saves. Instead: a folder that all of them share"
                % (own.number, folder, os.path.dirname(path))
            )
        return
    with contextlib.ExitStack() as undo:
        path = ""
        with contextlib.suppress(OSError):  # nothing can be written there
            file = undo.enter_context(tempfile.NamedTemporaryFile(dir=folder, prefix=".tpudist-"))
            path = file.name
        clusters.say_written("folder", path)
        for worker in range(1, own.workers):
            clusters.wait_until_written("folder seen by worker %d" % worker, "")


@contextlib.contextmanager
def in_time() -> Iterator[None]:
    """Context manager: the process ends with an error if the block, a start, takes too long.

    TensorFlow waits for a worker that does not come, says nothing, and lets no other thread of
    Python run: a process says it, and a thread without Python ends this one.
    """
    seconds = float(os.environ.get(machine.START_TIMEOUT) or 300)
    watch = [sys.executable, "-m", late_workers.__name__, str(seconds), *tasks.addresses()]
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        faulthandler.dump_traceback_later(seconds + _TOLD, exit=True, file=nowhere)
        process = subprocess.Popen(watch, stdin=subprocess.PIPE)
        try:
            yield
        finally:
            faulthandler.cancel_dump_traceback_later()
            process.communicate()


def _writers(names: Iterator[str]) -> Iterator[quirks.Patch]:
    """Yields what writes, and which workers wait until the chief has written."""
    import h5py
    import tensorflow as tf

    from tpudist.tfcompat import clusters

    is_chief = tasks.own().is_chief
    for owner, name, parameter in clusters.writers():
        native = getattr(owner, name)
        if not is_chief:
            native = _elsewhere(native, parameter, names) if parameter else _nothing
        if name == "write_file" or parameter not in _UNTIMED and not name.startswith("_delete"):
            native = _in_turn(native, "%s.%s" % (owner.__name__, name), is_chief)
        yield owner, name, native
    for owner in (h5py.File, tf.io.gfile.GFile, tf.io.TFRecordWriter):
        yield owner, "__init__", _opening(owner, names)
        yield owner, "close", _closing(owner.close)
        yield owner, "__exit__", _closing(owner.__exit__)


def _opening(owner: Any, names: Iterator[str]) -> Fn:
    """A constructor by which a worker writes elsewhere what the chief writes.

    TensorFlow opens files too, of which the chief's alone are kept; HDF5 files are Keras' own.
    """
    from tpudist.tfcompat import clusters

    native, numbers, own = owner.__init__, itertools.count(1), tasks.own()
    signature = inspect.signature(native)
    parameter = list(signature.parameters)[1]
    default = "r" if "mode" in signature.parameters else "w"
    is_of_keras = owner.__name__ == "File"

    @functools.wraps(native)
    def start(*args: Any, **kwargs: Any) -> None:
        bound = signature.bind(*args, **kwargs)
        path, mode = bound.arguments[parameter], bound.arguments.get("mode", default)
        if own_files.is_result(path, mode) and (is_of_keras or machine.line_of_the_program(1)):
            key, told = "%s number %d" % (owner.__name__, next(numbers)), os.fsdecode(path)
            is_common = own.is_chief or is_of_keras
            if own.is_chief:
                clusters.say_written(key, told)
            elif not is_common:
                with contextlib.suppress(TpudistError):  # this worker alone writes
                    is_common = clusters.wait_until_written(key, told, _OWN) == told
            if is_common:
                args[0].__dict__["_tpudist_key"] = key
            if is_common and not own.is_chief:
                bound.arguments[parameter] = next(names)
        native(*bound.args, **bound.kwargs)

    return start


def _closing(native: Fn) -> Fn:
    """A method that closes a file; workers wait until the chief has closed its own."""
    from tpudist.tfcompat import clusters

    @functools.wraps(native)
    def close(self: Any, *args: Any) -> Nest:
        key = self.__dict__.pop("_tpudist_key", "")
        try:
            return native(self, *args)
        finally:
            if key and tasks.own().is_chief:
                clusters.say_written(key + " closed", "")
            elif key:
                clusters.wait_until_written(key + " closed", "")

    return close


def _in_turn(native: Fn, name: str, is_chief: bool) -> Fn:
    """A function after which the chief says that it has written, and other workers wait for that.

    They return the path that the chief returned. The calls of a name have numbers, which are the
    same on all workers. In a graph write_file writes later.
    """
    import tensorflow as tf

    from tpudist.tfcompat import clusters

    numbers = itertools.count(1)

    @functools.wraps(native)
    def write(*args: Any, **kwargs: Any) -> Nest:
        if name.endswith("write_file") and not tf.executing_eagerly():
            return native(*args, **kwargs)
        key, path = "%s number %d" % (name, next(numbers)), ""
        try:
            result = native(*args, **kwargs)
            path = os.fsdecode(result) if isinstance(result, (str, bytes)) else ""
        finally:
            if is_chief:  # also where it could not write: no other worker waits for ever
                clusters.say_written(key, path)
        path = path if is_chief else clusters.wait_until_written(key, path)
        if is_chief or not path:  # the chief returned none
            return result
        return os.fsencode(path) if isinstance(result, bytes) else path

    return write


def _restores() -> Iterator[quirks.Patch]:
    """Yields what restores a checkpoint, after which the workers compare their variables."""
    from tpudist.backends import replica_checks
    from tpudist.tfcompat import clusters

    saver = clusters.checkpoint_module().TrackableSaver
    native = saver.restore

    @functools.wraps(native)
    def restore(*args: Any, **kwargs: Any) -> Nest:
        status = native(*args, **kwargs)
        replica_checks.compare_all()
        return status

    yield saver, "restore", restore


def _sessions() -> Iterator[quirks.Patch]:
    """Yields what makes a Session one of this worker's server, whoever makes it."""
    from tpudist.tfcompat import clusters, tpu

    base = tpu.BaseSession
    native = base.__init__

    @functools.wraps(native)
    def start(self: Any, target: Any = "", graph: Any = None, config: Any = None) -> None:
        del target
        native(self, *clusters.in_session(graph, config))

    yield base, "__init__", start
    yield clusters, "has_sessions", True


def _nothing(*args: Any, **kwargs: Any) -> None:
    """Replaces functions that only report, or tidy, what the chief has written."""


def _elsewhere(
    native: Callable[..., Any], parameter: str, names: Iterator[str]
) -> Callable[..., Any]:
    """A function of TensorFlow's that writes to one of `names`, whatever its path argument."""
    signature = inspect.signature(native)
    reads = "r" if "mode" in signature.parameters else ""

    @functools.wraps(native)
    def write(*args: Any, **kwargs: Any) -> Nest:
        bound = signature.bind(*args, **kwargs)
        asked = bound.arguments.get(parameter, "")
        if (
            (isinstance(asked, str) and not asked)
            or bound.arguments.get("mode", reads).startswith("r")
            or hasattr(asked, "write")
            or _FOLDER in str(asked)  # a part of what is written elsewhere
        ):
            return native(*args, **kwargs)
        asks_by_name = isinstance(asked, (str, os.PathLike))  # Keras reads its end: .weights.h5
        end = "-" + os.path.basename(asked) if asks_by_name else ""
        bound.arguments[parameter] = written = next(names) + end
        result = native(*bound.args, **bound.kwargs)
        if parameter == "file_prefix":
            return asked
        # A Saver's path ends in the step, an export's in the time: the program goes on with it.
        if isinstance(result, bytes):
            return result.replace(written.encode("utf-8"), os.fsencode(asked))
        return result.replace(written, str(asked)) if isinstance(result, str) else result

    return write
