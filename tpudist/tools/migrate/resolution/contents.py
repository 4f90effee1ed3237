"""What stands in the files of a code base: their bytes, and which words are where.

Few bytes are kept, so that memory does not grow with the number of files: what does not
fit is read again.
"""

from __future__ import annotations

import array
import bisect
import collections
import io
import itertools
import mmap
import re
import tempfile
import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import IO, Any, Iterable, Iterator

_HELD = 4 << 20  # bytes
_LONGEST = 100  # of a word; images in notebooks are longer ones
_TOGETHER = 250  # files whose words are kept together, at most 65,536
_AT_ONCE = 50  # words that are looked up before what was read is let go
_LARGE = 1 << 20  # bytes of the file for which that is worth it
_LET_GO = getattr(mmap, "MADV_DONTNEED", None)  # Python 3.8, where there is such a thing
#: What many of the words that are looked for have in common, and few files.
_COMMON = (
    b"experimental", b"tower", b"replica", b"Hook", b"Export", b"Estimator", b"erving", b"strateg",
    b"iterator", b"device", b"_host", b"should_", b"dataset", b"_system", b"steps_",
)  # fmt: skip
_WORD = re.compile(rb"\w+")
_ESCAPED = re.compile(rb"\\(?:u[0-9a-fA-F]{4}|.)")  # in the strings of a notebook
_IMAGE = re.compile(rb"[A-Za-z0-9+/=]{300,}")  # in one, of which parts look like words


class Contents:
    """The bytes of files, by path.

    Args:
      given: {path: bytes} of files that are not read from disk.
    """

    def __init__(self, given: dict[str, bytes] | None = None) -> None:
        self._held: dict[str, bytes] = dict(given or {})
        self._size = sum(map(len, self._held.values()))
        self.paths: dict[str, None] = {}

    def take(self, path: str) -> bytes:
        """Reads a file, which is one of these from then on.

        Raises:
          OSError: it cannot be read.
        """
        raw = self._read(path)
        self.paths[path] = None
        if path not in self._held and self._size + len(raw) <= _HELD:
            self._held[path] = raw
            self._size += len(raw)
        return raw

    def _read(self, path: str) -> bytes:
        if path in self._held:
            return self._held[path]
        with open(path, "rb") as file:
            return file.read()

    def __contains__(self, path: str) -> bool:
        return path in self.paths

    def __getitem__(self, path: str) -> bytes:
        if path not in self.paths:
            raise KeyError(path)
        return self._read(path)

    def get(self, path: str, default: bytes) -> bytes:
        """The bytes of a file, `default` if it is none of these."""
        return self._read(path) if path in self.paths else default

    def items(self) -> Iterator[tuple[str, bytes]]:
        """Yields (path, bytes) of each file that is still there."""
        for path in self.paths:
            try:
                yield path, self._read(path)
            except OSError:
                continue


def grouped(words: Iterable[bytes]) -> dict[bytes, list[bytes]]:
    """{what some words have in common: those}: it is looked for first, which takes less time."""
    found: dict[bytes, list[bytes]] = {}
    for word in words:
        found.setdefault(next((each for each in _COMMON if each in word), word), []).append(word)
    return found


class Words:
    """Which files have which words, kept in a temporary file that nobody else sees.

    Args:
      contents: (path, bytes) of each file.
    """

    def __init__(self, contents: Iterable[tuple[str, bytes]]) -> None:
        self._parts: list[_Part] = []
        made = _temporary()
        paths: list[str] = []
        words: dict[bytes, list[int]] = collections.defaultdict(list)
        for path, raw in contents:
            if path.endswith(".ipynb"):
                raw = _ESCAPED.sub(b" ", _IMAGE.sub(b"", raw))
            for word in set(_WORD.findall(raw)):
                if len(word) <= _LONGEST:
                    words[word].append(len(paths))
            paths.append(path)
            if len(paths) == _TOGETHER:
                self._parts.append(_Part(paths, words, made))
                paths, words = [], collections.defaultdict(list)
        self._parts.append(_Part(paths, words, made))
        self._bytes = _mapped(made)
        self._size, self._asked = len(self._bytes), 0

    def __getstate__(self) -> dict[str, Any]:
        return dict(self.__dict__, _bytes=self._bytes[:])

    def files(self, word: bytes) -> set[str]:
        """The files in which a word stands; seldom one of another word that has its number."""
        number = zlib.crc32(word)
        with memoryview(self._bytes) as view:
            found = {path for part in self._parts for path in part.having(view, number)}
        self._asked += 1
        if self._asked % _AT_ONCE == 0 and _LET_GO is not None and self._size > _LARGE:
            self._let_go()
        return found

    def _let_go(self) -> None:
        """Has what was read of the file count as this process's memory no longer."""
        if isinstance(self._bytes, mmap.mmap):
            self._bytes.madvise(_LET_GO)


class _Part:
    """Some files, and where the numbers of their words stand: 10 bytes a word, 2 a file of it."""

    def __init__(self, paths: list[str], words: dict[bytes, list[int]], made: IO[bytes]) -> None:
        self._paths = paths
        every = sorted((zlib.crc32(word), files) for word, files in words.items())
        ends = itertools.accumulate(len(files) for _, files in every)
        self._words = _put(made, array.array("I", [word for word, _ in every]))
        self._ends = _put(made, array.array("I", [0, *ends]))
        numbers = itertools.chain.from_iterable(files for _, files in every)
        self._files = _put(made, array.array("H", numbers))

    def having(self, view: memoryview, word: int) -> list[str]:
        """The files that have a word of this number; `view` is of what was put."""
        found: list[str] = []
        with view[slice(*self._words)].cast("I") as words:
            index = bisect.bisect_left(words, word)
            while index < len(words) and words[index] == word:
                with view[slice(*self._ends)].cast("I") as ends:
                    first, last = ends[index : index + 2]
                with view[slice(*self._files)].cast("H") as files:
                    found += [self._paths[number] for number in files[first:last]]
                index += 1
        return found


def _temporary() -> IO[bytes]:
    """A file without a name; one in memory if there is no place for it."""
    try:
        return tempfile.TemporaryFile()
    except OSError:
        return io.BytesIO()


def _put(made: IO[bytes], what: bytes | array.array[int]) -> tuple[int, int]:
    """Writes to the end of a file; the (start, end) where it stands, in a place for numbers."""
    start = made.tell()
    end = start + made.write(what)
    made.write(b"\0" * (-end % 8))
    return start, end


def _mapped(made: IO[bytes]) -> mmap.mmap | bytes:
    """What was put into a file, which is read where it is."""
    if isinstance(made, io.BytesIO):
        return made.getvalue()
    with made:
        made.flush()
        return mmap.mmap(made.fileno(), 0, access=mmap.ACCESS_READ)


def is_word(raw: bytes) -> bool:
    """Whether bytes are one word, and nothing else."""
    return len(raw) <= _LONGEST and _WORD.fullmatch(raw) is not None
