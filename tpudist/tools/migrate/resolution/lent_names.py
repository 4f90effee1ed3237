"""Names of TensorFlow that a file has from another file of its code base: ``from common import K``.

Looked for in bytes, and only where one leads to a name that TensorFlow has no longer.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tpudist import surfaces
from tpudist.surfaces.eras import names
from tpudist.tools.migrate.resolution import gone_words, outside, tensorflow_words

if TYPE_CHECKING:
    from typing import Iterable, Iterator, Sequence

    from tpudist.tools.migrate.resolution.codebase import CodeBase

    #: (dotted name below ``tf``, the file that has it from TensorFlow).
    Origin = tuple[str, str]

_REST = re.compile(rb"(?:\.\w+)+")
_INSIDE = re.compile(rb"[.\w]")
_EVERY = re.compile(rb"(?<![.\w])[A-Za-z_]\w*(?:\.\w+)*")
_STAR = re.compile(rb"^[ \t]*from[ \t]+(\.*)([\w.]*)[ \t]+import[ \t]*\(?[ \t]*\*", re.M)
#: An attribute that a class, or its method, gives a dotted name.
_KEPT = re.compile(
    rb"^[ \t]+(?:self\.)?(\w+)[ \t]*=[ \t]*([A-Za-z_]\w*)((?:\.\w+)*)[ \t]*\r?(?:#|$)", re.M
)
#: What a file has from TensorFlow, and that it assigns it: others keep none.
_FROM_TENSORFLOW = re.compile(rb"tensorflow\b[^\n(]*(?:\([^)]*)?")
_ASSIGNED = rb"=[ \t]*(?:%s)(?:\.\w+)*[ \t]*\r?(?:#|$)"
_BASES = re.compile(rb"^[ \t]*class[ \t]+\w+[ \t]*\(([^:]{0,400})", re.M)
_WORD = re.compile(rb"\b(?!import\b|from\b|as\b)\w+(?![\w.])")
_DEEPEST = 8  # files through which a name may come


def may_keep(raw: bytes) -> bool:
    """Whether a file may have a class that keeps TensorFlow, or a module of it.

    Args:
      raw: its bytes.
    """
    if b"class " not in raw or b"tensorflow" not in raw:
        return False
    words = {word for line in _FROM_TENSORFLOW.findall(raw) for word in _WORD.findall(line)}
    return re.search(_ASSIGNED % b"|".join(sorted(words)), raw, re.M) is not None


class Lent:
    """What files of a code base lend each other.

    Args:
      codebase: the `CodeBase`.
    """

    def __init__(self, codebase: CodeBase) -> None:
        self._codebase = codebase
        self._imports: dict[str, dict[str, list[Any]]] = {}
        self._kept: dict[str, dict[str, set[str]]] = {}
        self._bound: dict[str, dict[str, set[str]]] = {}
        self._based: dict[str, set[str]] = {}

    def words(self, path: str) -> dict[str, set[Origin]]:
        """The words of a file that stand for TensorFlow, or for a module or name of it.

        Args:
          path: the file.

        Returns:
          {word: its Origins} of those that another file has imported.
        """
        found: dict[str, set[Origin]] = {}
        local = {name for name, every in self._imported(path).items() if self._is_own(path, every)}
        if not local:
            return found
        for chain in _chains(self._codebase.bytes[path], local):
            parts = chain.decode("utf-8", "replace").split(".")
            if gone_words.LAST.isdisjoint(parts) and "tf" not in parts:
                continue
            for index, below, origin in self._found(path, parts, 0, 0):
                if origin != path and _is_old(below):
                    found.setdefault(parts[index], set()).add((below, origin))
        for word, below, origin in self._of_classes(path, local):
            if _is_old(below):
                found.setdefault(word, set()).add((below, origin))
        return found

    def keeping(self, paths: Iterable[str]) -> set[str]:
        """The attributes that classes of some files keep TensorFlow, or a module of it, in.

        Args:
          paths: the files, of which `may_keep` is true.
        """
        found = (self._kept_by_classes(path) for path in paths)
        return {
            word for kept in found for word, every in kept.items() if any(map(_is_above, every))
        }

    def _of_classes(self, path: str, local: Iterable[str]) -> Iterator[tuple[str, str, str]]:
        """(attribute, the name below ``tf``, where) of what classes of imported files keep."""
        raw = self._raw(path)
        for other in sorted(self._above(path, local)):
            for word, modules in self._kept_by_classes(other).items():
                after = b".%s." % word.encode("utf-8")
                pattern = rb"%s(\w[\w.]*)" % re.escape(after)
                for rest in re.findall(pattern, raw) if after in raw else ():
                    for module in modules:
                        yield word, (module + "." + rest.decode("utf-8")).strip("."), other

    def _above(self, path: str, words: Iterable[str]) -> set[str]:
        """The files that some words of a file are from, and those of their classes' bases."""
        found: set[str] = set()
        todo = self._files_of(path, words)
        for _ in range(_DEEPEST):
            found |= todo
            todo = {each for other in todo for each in self._bases(other)} - found
        return found - {path}

    def _bases(self, path: str) -> set[str]:
        """The files that the bases of the classes of a file may be from."""
        if path not in self._based:
            raw = self._raw(path)
            every = _BASES.findall(raw) if b"class " in raw else []
            words = {word for bases in every for word in re.findall(rb"(?<![\w.])\w+", bases)}
            self._based[path] = self._files_of(path, (word.decode("utf-8") for word in words))
        return self._based[path]

    def _files_of(self, path: str, words: Iterable[str]) -> set[str]:
        """The files of the code base that some words of one may be from."""
        imported = self._imported(path)
        found = {
            self._codebase.find_module(full, level, path)
            for word in words
            for module, level, name in imported.get(word, ())
            for full in ([module, (module + "." + name).strip(".")] if module or level else [name])
        }
        return {each for each in found if each is not None}

    def _raw(self, path: str) -> bytes:
        raw: bytes = self._codebase.bytes[path]
        return raw

    def _kept_by_classes(self, path: str) -> dict[str, set[str]]:
        """{attribute: names below ``tf``} of what stands indented in a file: ``K = tf.a``."""
        if path not in self._kept:
            raw = self._codebase.bytes[path]
            every = _KEPT.findall(raw) if b"tensorflow" in raw and b"class " in raw else []
            found = self._kept.setdefault(path, {})
            for word, first, rest in every:
                for below in self._bindings(path).get(first.decode("utf-8", "replace"), ()):
                    full = (below + rest.decode("utf-8", "replace")).strip(".")
                    found.setdefault(word.decode("utf-8", "replace"), set()).add(full)
        return self._kept[path]

    def _is_own(self, path: str, imports: Iterable[Any]) -> bool:
        """Whether one of some imports may be of a file of the code base."""
        return any(
            self._codebase.find_module(full, level, path) is not None
            for module, level, name in imports
            for full in ([module, (module + "." + name).strip(".")] if module or level else [name])
        )

    def _found(
        self, path: str, parts: Sequence[str], start: int, deep: int
    ) -> Iterator[tuple[int, str, str]]:
        """(which part has it from TensorFlow, the name below ``tf``, where) of a dotted name."""
        if deep > _DEEPEST or start >= len(parts):
            return
        first, rest = parts[start], list(parts[start + 1 :])
        if deep:
            for below in self._bindings(path).get(first, ()):
                yield start, ".".join([below, *rest]).strip("."), path
            stars = self._bindings(path).get("*")
            for below in stars if stars and not self._makes(path, first) else ():
                yield start, ".".join([below, first, *rest]).strip("."), path
        imports = self._imported(path)
        for module, level, name in imports.get(first, ()):
            yield from self._through(path, parts, start, (module, level, name), deep)
        for module, level, _ in imports.get("*", ()):
            other = self._codebase.find_module(module, level, path)
            if other is not None and other != path:
                yield from self._found(other, parts, start, deep + 1)

    def _through(
        self, path: str, parts: Sequence[str], start: int, what: Any, deep: int
    ) -> Iterator[tuple[int, str, str]]:
        """As `_found`, of one import statement."""
        module, level, name = what
        if not module and not level:  # import a.b
            words = [*name.split("."), *parts[start + 1 :]]
            for end in range(len(words), name.count("."), -1):
                other = self._codebase.find_module(".".join(words[:end]), 0, path)
                if other is not None and other != path:
                    after = start + end - name.count(".")
                    yield from self._found(other, parts, after, deep + 1)
            return
        inner = self._codebase.find_module((module + "." + name).strip("."), level, path)
        if inner is not None and inner != path:
            yield from self._found(inner, parts, start + 1, deep + 1)
        other = self._codebase.find_module(module, level, path)
        if other is not None and other != path:
            renamed = [*parts[:start], name, *parts[start + 1 :]]
            yield from self._found(other, renamed, start, deep + 1)

    def _makes(self, path: str, name: str) -> bool:
        """Whether a file itself gives a name a value."""
        word = re.escape(name.encode("utf-8"))
        made = rb"^(?:%s[ \t]*[=:]|(?:def|class)[ \t]+%s\b)" % (word, word)
        return re.search(made, self._codebase.bytes[path], re.M) is not None

    def _bindings(self, path: str) -> dict[str, set[str]]:
        if path not in self._bound:
            raw = self._codebase.bytes[path]
            found = tensorflow_words.bound(raw) if b"tensorflow" in raw else {}
            self._bound[path] = {
                name.decode("utf-8", "replace"): {each.decode("utf-8", "replace") for each in every}
                for name, every in found.items()
            }
        return self._bound[path]

    def _imported(self, path: str) -> dict[str, list[Any]]:
        """{name: [(module, level, name there)]} of what a file imports; "" for no module."""
        if path not in self._imports:
            found: dict[str, list[Any]] = {}
            raw = self._codebase.bytes[path]
            for module, level, every in outside.imports(raw):
                for name, bound in every:
                    if module is not None:
                        found.setdefault(bound or name, []).append((module, level, name))
                    else:
                        first = bound or name.partition(".")[0]
                        found.setdefault(first, []).append(("", 0, name if bound else first))
            for dots, module in _STAR.findall(raw):
                found.setdefault("*", []).append(
                    (module.decode("utf-8", "replace"), len(dots), "*")
                )
            self._imports[path] = found
        return self._imports[path]


def _chains(raw: bytes, first: set[str]) -> set[bytes]:
    """The dotted names in a file that begin with some words; every name if "*" is one."""
    if "*" in first:
        return set(_EVERY.findall(raw))
    return {chain for word in first for chain in _beginning(raw, word.encode("utf-8"))}


def _beginning(raw: bytes, word: bytes) -> Iterator[bytes]:
    """The dotted names in a file that begin with a word."""
    place = raw.find(word + b".")
    while place >= 0:
        if not place or _INSIDE.match(raw, place - 1) is None:
            rest = _REST.match(raw, place + len(word))
            if rest is not None:
                yield word + rest.group()
        place = raw.find(word + b".", place + 1)


def _is_above(below: str) -> bool:
    """Whether a name is that of a module with names that are gone, or of TensorFlow 1 alone."""
    return gone_words.is_above(below) or below in surfaces.first_modules()


def _is_old(below: str) -> bool:
    """Whether a name is gone, has moved, or is one of TensorFlow 1 alone."""
    if below.partition(".")[0] == "contrib":
        return False  # it is followed anyway
    return gone_words.is_gone(below) or names.is_first_generation(below)
