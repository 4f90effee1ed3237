"""What stands in the files of a code base: their bytes, and which words are where.

Few bytes are kept, so that memory does not grow with the number of files: what does not
fit is read again.
"""

from __future__ import annotations

import array
import bisect
import itertools
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Iterable, Iterator

_HELD = 4 << 20  # bytes
_LONGEST = 100  # of a word; images in notebooks are longer ones
_TOGETHER = 500  # files whose words are kept together, at most 65,536
_WORD = re.compile(rb"\w+")


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


class Words:
    """Which files have which words.

    Args:
      contents: (path, bytes) of each file.
    """

    def __init__(self, contents: Iterable[tuple[str, bytes]]) -> None:
        self._parts: list[_Part] = []
        paths: list[str] = []
        words: dict[bytes, list[int]] = {}
        for path, raw in contents:
            for word in set(_WORD.findall(raw)):
                if len(word) <= _LONGEST:
                    words.setdefault(word, []).append(len(paths))
            paths.append(path)
            if len(paths) == _TOGETHER:
                self._parts.append(_Part(paths, words))
                paths, words = [], {}
        self._parts.append(_Part(paths, words))

    def having(self, part: bytes) -> set[str]:
        """The files in which a word has a part that is of letters, digits and ``_``."""
        return {path for each in self._parts for path in each.having(part)}

    def files(self, word: bytes) -> set[str]:
        """The files in which a word stands."""
        return {path for each in self._parts for path in each.having(b"\n%s\n" % word)}


class _Part:
    """Some files and their words, in some 25 bytes a word and 2 a file that has it."""

    def __init__(self, paths: list[str], words: dict[bytes, list[int]]) -> None:
        self._paths = paths
        self._every = b"\n" + b"".join(word + b"\n" for word in words)
        starts = itertools.accumulate(len(word) + 1 for word in words)
        self._starts = array.array("I", [0, *starts])  # of the line end before each word
        ends = itertools.accumulate(map(len, words.values()))
        self._ends = array.array("I", [0, *ends])
        self._numbers = array.array("H", itertools.chain.from_iterable(words.values()))

    def having(self, part: bytes) -> set[str]:
        """The files that have a word which these bytes are in."""
        every, found = self._every, set()
        start = every.find(part)
        while start >= 0:
            word = bisect.bisect_right(self._starts, start) - 1
            found.update(self._numbers[self._ends[word] : self._ends[word + 1]])
            start = every.find(part, self._starts[word + 1])
        return {self._paths[number] for number in found}


def is_word(raw: bytes) -> bool:
    """Whether bytes are one word, and nothing else."""
    return len(raw) <= _LONGEST and _WORD.fullmatch(raw) is not None
