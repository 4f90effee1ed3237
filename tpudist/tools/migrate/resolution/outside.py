"""Whether files outside of a code base, which it imports, may hand on TensorFlow's names."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

from tpudist.tools.migrate.resolution import imported_values

if TYPE_CHECKING:
    from typing import Iterable, Iterator

    from tpudist.tools.migrate.resolution.codebase import CodeBase

_CONTINUED = re.compile(rb"\\\r?\n")
_COMMENT = re.compile(r"#[^\n]*")
_IMPORT = re.compile(rb"import\b")
_NAMES = re.compile(r"([\w.]+)(?:\s+as\s+(\w+))?")
_MOST = 400  # files that are looked at


class Outside:
    """The files outside that those of a code base import."""

    def __init__(self) -> None:
        self._seen: set[tuple[Any, ...]] = set()
        self._paths: list[str] = []

    def look(self, codebase: CodeBase, path: str, found: Iterable[Any]) -> None:
        """Notes what is outside of some imports of a file.

        Args:
          codebase: the `CodeBase`.
          path: the file.
          found: (module, level, [(name, as)]) of each; module is None without ``from``.
        """
        folder = os.path.dirname(path)
        for module, level, names in found:
            below = [name for name, _ in names]
            for full in below if module is None else [module]:
                if not level and _is_known(full):
                    continue
                key = full, level, folder, () if module is None else tuple(below)
                if key not in self._seen:
                    self._seen.add(key)
                    self._take(codebase, path, full, level, key[-1])

    def _take(
        self, codebase: CodeBase, path: str, module: str, level: int, below: tuple[str, ...]
    ) -> None:
        inside = codebase.find_module(module, level, path)
        if inside is None:
            self._paths += filter(None, [codebase.find_outside(module, level, path)])
        if inside is None or os.path.basename(inside) == "__init__.py":
            for name in below:
                full = (module + "." + name).strip(".")
                if codebase.find_module(full, level, path) is None:
                    self._paths += filter(None, [codebase.find_outside(full, level, path)])

    def has_tensorflow(self, codebase: CodeBase) -> bool:
        """Whether one of those files, or one that they import, imports TensorFlow."""
        looked: set[str] = set()
        while self._paths:
            path = self._paths.pop()
            if path in looked:
                continue
            looked.add(path)
            try:
                with open(path, "rb") as file:
                    raw = file.read()
            except OSError:
                continue
            if b"tensorflow" in raw or b"tpudist" in raw or len(looked) > _MOST:
                return True
            self.look(codebase, path, imports(raw))
        return False


def _is_known(full: str) -> bool:
    return imported_values.is_known(full) or full.partition(".")[0] == "tpudist"


def imports(raw: bytes) -> Iterator[tuple[str | None, int, list[tuple[str, str | None]]]]:
    """What may be import statements in a file's bytes, as of `Outside.look`."""
    raw = _CONTINUED.sub(b" ", raw)
    for match in _IMPORT.finditer(raw):
        before = raw[raw.rfind(b"\n", 0, match.start()) + 1 : match.start()]
        after = raw[match.end() : raw.find(b"\n", match.end()) % (len(raw) + 1)]
        if b"(" in after:
            after = raw[match.end() : raw.find(b")", match.end()) % (len(raw) + 1)]
        listed = _COMMENT.sub("", after.decode("utf-8", "replace"))
        words = listed.strip("( \t\r\n").split(",")
        names = [found.groups() for found in map(_NAMES.search, words) if found]
        base = before.rpartition(b"from ")[2].decode("utf-8", "replace").strip()
        if b"from " not in before:
            yield None, 0, names
        elif base:
            module = base.lstrip(".")
            yield module.strip(), len(base) - len(module), names
