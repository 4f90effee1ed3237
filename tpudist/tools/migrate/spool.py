"""The Results of a run, in a temporary file: memory does not grow with the number of files."""

from __future__ import annotations

import array
import io
import pickle
import tempfile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import IO, Iterable, Iterator

    from tpudist.tools.migrate.outcomes import Result


class Spool:
    """Results, in order, of which one is in memory at a time.

    Args:
      results: the Results, taken one after the other.
    """

    def __init__(self, results: Iterable[Result] = ()) -> None:
        self._file = _temporary()
        self._starts = array.array("Q")
        for result in results:
            self.append(result)

    def append(self, result: Result) -> None:
        """Puts a Result behind the others."""
        self._starts.append(self._file.seek(0, io.SEEK_END))
        pickle.dump(tuple(result), self._file, pickle.HIGHEST_PROTOCOL)

    def __len__(self) -> int:
        return len(self._starts)

    def __iter__(self) -> Iterator[Result]:
        from tpudist.tools.migrate.outcomes import Result

        for start in self._starts:
            self._file.seek(start)
            yield Result(*pickle.load(self._file))


def _temporary() -> IO[bytes]:
    """A file without a name; one in memory if there is no place for it."""
    try:
        return tempfile.TemporaryFile()
    except OSError:
        return io.BytesIO()
