"""What the workers of a cluster write: files of the chief are kept, those of the others deleted.

A program of a TPU has one process that writes. On a cluster every worker runs it: the others
save as well, because TensorFlow adds over the workers what a variable holds of each, but into a
folder of their own.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import itertools
import os
import tempfile
from typing import TYPE_CHECKING, Any, Callable, Iterator

from tpudist.system import tasks

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import Nest


@contextlib.contextmanager
def by_the_chief() -> Iterator[None]:
    """Context manager: on other workers, TensorFlow writes into a folder that is deleted after.

    Checkpoints, summaries, SavedModels, and the HDF5 and ``.keras`` files of Keras are; what Python
    or another package writes is not.
    """
    if tasks.own().is_chief:
        yield
        return
    from tpudist.tfcompat import clusters

    with contextlib.ExitStack() as undo:
        folder = undo.enter_context(tempfile.TemporaryDirectory(prefix="tpudist-worker-"))
        names = map(functools.partial(os.path.join, folder), map(str, itertools.count()))
        for owner, name, parameter in clusters.writers():
            native = getattr(owner, name)
            undo.callback(setattr, owner, name, native)
            setattr(owner, name, _elsewhere(native, parameter, names) if parameter else _nothing)
        yield


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
