"""What a program finds on a worker of a cluster: files that the chief alone keeps, and Sessions.

A program of a TPU has one process that writes. On a cluster every worker runs it: the others
save as well, because TensorFlow adds over the workers what a variable holds of each, but into a
folder of their own. It adds in Sessions of the worker's server alone; in others it would wait for
ever.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import itertools
import os
import tempfile
from typing import TYPE_CHECKING, Any, Callable, Iterator

from tpudist.legacy import quirks
from tpudist.system import tasks

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import Nest


@contextlib.contextmanager
def as_this_worker() -> Iterator[None]:
    """Context manager: Sessions are of this worker's server, and only the chief's files are kept.

    On other workers TensorFlow writes into a folder that is deleted after: checkpoints, summaries,
    SavedModels, and the HDF5 and ``.keras`` files of Keras; what Python or another package writes
    is kept.
    """
    with contextlib.ExitStack() as undo:
        folder = undo.enter_context(tempfile.TemporaryDirectory(prefix="tpudist-worker-"))
        undo.enter_context(quirks.patched([*_writers(folder), *_sessions()]))
        yield


def _writers(folder: str) -> Iterator[quirks.Patch]:
    """Yields what writes into a folder on a worker that is not the chief."""
    from tpudist.tfcompat import clusters

    names = map(functools.partial(os.path.join, folder), map(str, itertools.count()))
    for owner, name, parameter in () if tasks.own().is_chief else clusters.writers():
        native = getattr(owner, name)
        yield owner, name, _elsewhere(native, parameter, names) if parameter else _nothing


def _sessions() -> Iterator[quirks.Patch]:
    """Yields what makes a Session one of this worker's server, whoever makes it."""
    from tpudist.tfcompat import clusters

    base = clusters.session_class()
    native = base.__init__

    @functools.wraps(native)
    def start(self: Any, target: Any = "", graph: Any = None, config: Any = None) -> None:
        del target
        native(self, *clusters.in_session(graph, config))

    yield base, "__init__", start
    yield clusters, "has_sessions", True


def _nothing(*args: Any, **kwargs: Any) -> None:
    """Stands for what only says, or tidies, what the chief has written."""


def _elsewhere(
    native: Callable[..., Any], parameter: str, names: Iterator[str]
) -> Callable[..., Any]:
    """A function of TensorFlow's that writes to one of `names`, whatever path it is given."""
    signature = inspect.signature(native)
    reads = "r" if "mode" in signature.parameters else ""

    @functools.wraps(native)
    def write(*args: Any, **kwargs: Any) -> Nest:
        bound = signature.bind(*args, **kwargs)
        asked = bound.arguments[parameter]
        if bound.arguments.get("mode", reads).startswith("r") or hasattr(asked, "write"):
            return native(*args, **kwargs)
        asks_by_name = isinstance(asked, (str, os.PathLike))  # Keras reads its end: .weights.h5
        end = "-" + os.path.basename(asked) if asks_by_name else ""
        bound.arguments[parameter] = written = next(names) + end
        result = native(*bound.args, **bound.kwargs)
        if parameter == "file_prefix":
            return asked
        # A Saver's path ends in the step, and the program goes on with it.
        return result.replace(written, str(asked)) if isinstance(result, str) else result

    return write
