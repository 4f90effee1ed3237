"""The words of a code base that may stand for TensorFlow, or for a name of it that a rule asks for.

``config.size`` was followed to every call that hands on a config, only to learn that it is no
``tf.contrib.size``. It cannot be one where no such name of TensorFlow is kept in a variable, an
attribute or a parameter called ``config`` or ``size``; mostly they are called where they stand.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import libcst as cst

from tpudist.surfaces.eras import walks
from tpudist.tools.migrate import asked_names, handed_modules, handed_on, handing_bytes
from tpudist.tools.migrate.handed_on import CALLS, ROOTS, plain
from tpudist.tools.migrate.resolution import (
    outside,
    parameters,
    python_trees,
    sources,
    tensorflow_names,
)
from tpudist.tools.migrate.resolution.module import last_word

if TYPE_CHECKING:
    from typing import Collection, Iterable, Iterator, Sequence

    from tpudist.tools.migrate.resolution.codebase import CodeBase

    #: (module, level, [(name, as)]) of an import statement; module is None without ``from``.
    Import = tuple["str | None", int, Sequence[tuple[str, "str | None"]]]

_MOST = 3  # times the number of candidates: files that are read again
_ROOTS = {form + root for root in ROOTS for form in ("", ".")}


class Carriers:
    """Which words may stand for a name of TensorFlow that a rule asks for.

    Attributes:
      unknown: whether they may be any.
      handing: {path: as of `handed_modules.of`} of the files that hand on what today's TensorFlow
        has not, or what is above it.
      borrowing: the files that have a name from another file's variable or function.
    """

    def __init__(self) -> None:
        self.unknown = False
        self.handing: dict[str, frozenset[str]] = {}
        self.borrowing: set[str] = set()
        self._keeping: set[str] = set()
        self._unsure: set[str] = set()
        self._everywhere: set[str] = set(_ROOTS)
        self._inside: dict[str, set[str]] = {}
        self._only_inside: dict[str, set[str]] = {}
        self._shared: dict[str, set[str]] = {}
        self._called: set[tuple[str, int | str, str, str]] = set()
        self._imports: dict[str, tuple[bool, list[handing_bytes.Import]]] = {}
        self._outside = outside.Outside()
        self._left = 0

    def take(
        self,
        codebase: CodeBase,
        path: str,
        text: str,
        nodes: walks.Nodes,
        imports: Sequence[Import],
    ) -> None:
        """Notes what a file hands on.

        Args:
          codebase: the `CodeBase`.
          path: the file.
          text: its source.
          nodes: all its nodes, as of `tpudist.surfaces.eras.walks.nodes`.
          imports: its import statements.
        """
        self._outside.look(codebase, path, imports)
        self.unknown = self.unknown or _has_star(imports)
        bound = _bound(imports)
        self._add_imports(path, bound)
        if handed_on.may_hand_on(text, bound):
            self._note(path, handed_on.found(nodes, bound, ()))
        self._keep(path, text, nodes, imports)

    def _keep(self, path: str, text: str, nodes: walks.Nodes, imports: Sequence[Import]) -> None:
        """Notes where a file itself keeps names that today's TensorFlow has not."""
        asked = asked_names.is_of_today
        bound = _bound(imports, asked)
        kept = _both(bound)
        modules = handed_modules.of(text, nodes, bound)
        if modules is not None:
            handed = handed_on.found(nodes, bound, (), asked)
            kept |= handed.names | handed.anywhere
            if any(handed) or modules:
                self.handing[path] = modules
            if handed.unknown or handed.called or "importorskip" in text:
                self._unsure.add(path)
        self._only_inside.setdefault(path, set()).update(kept - _ROOTS)

    def borrow(self, path: str, words: Iterable[str]) -> None:
        """Notes words that a file has from others, which are followed in that file only."""
        self._only_inside.setdefault(path, set()).update(_both(words))

    def lent(self, path: str) -> frozenset[str]:
        """The words by which a file may have names from others, and under which it keeps any."""
        if path not in self.borrowing and path not in self._keeping:
            return frozenset()
        return frozenset(map(plain, self._inside[path])) - _ROOTS

    def holding(self, codebase: CodeBase) -> set[str]:
        """The files to look at whether they name TensorFlow or not: they are given its names."""
        given = self._keeping.difference(codebase.candidates, self.borrowing)
        asking = {
            path for path in given if handing_bytes.asks(codebase.bytes[path], self._inside[path])
        }
        return self.borrowing | asking

    def take_unread(self, codebase: CodeBase, path: str) -> None:
        """Notes a file that Python cannot parse: it is newer than this Python, or it is none."""
        try:
            cst.parse_module(sources.read(path, codebase.bytes[path]).text)
        except (OSError,) + sources.UNREADABLE:
            return  # nobody follows anything to it
        self.unknown = True

    def settle(self, codebase: CodeBase) -> None:
        """Follows what files hand on to each other, once all candidates were taken."""
        known = set(codebase.candidates)
        for path in codebase.files if known else ():
            if path not in known and path not in codebase.unreadable:
                raw = codebase.bytes.get(path, b"")
                self._outside.look(codebase, path, outside.imports(raw))
                if (b"tf" in raw or b"tensorflow" in raw) and handing_bytes.hands_on(
                    raw, path.endswith(".ipynb")
                ):
                    self._read(codebase, path)
        self.unknown = self.unknown or self._outside.has_tensorflow(codebase)
        self._left = 100 + _MOST * len(known)
        done: set[tuple[Any, ...]] = set()
        while not self.unknown:
            new: set[tuple[Any, ...]] = {(word,) for word in self._everywhere - _ROOTS}
            new |= {(word, _stem(path)) for path, words in self._shared.items() for word in words}
            new |= self._called
            new -= done
            if not new:
                break
            done |= new
            again: dict[str, set[str]] = {}
            for what in sorted(new, key=repr):
                for path, word in _FOLLOWING[len(what)](self, codebase, *what):
                    again.setdefault(path, set()).add(word)
            for path, words in sorted(again.items()):
                self._read(codebase, path, words)
        self._imports.clear()

    def _add_imports(self, path: str, bound: Iterable[str]) -> None:
        """Has what a file imports stand for TensorFlow's names; in a class it is an attribute."""
        words = set(bound) - _ROOTS
        self._add(path, words)
        if words:
            self._inside[path] |= _both(words)

    def _add(self, path: str, words: set[str]) -> None:
        """Has words that other files may import stand for TensorFlow's names in a file."""
        if words:
            self._inside.setdefault(path, set()).update(words)
            self._shared.setdefault(path, set()).update(words)

    def may_hold(self, path: str, node: cst.CSTNode) -> bool:
        """Whether a Name or Attribute may be a name of TensorFlow that a rule asks for."""
        if self.unknown or path in self._unsure:
            return True
        words = _words_of(node)
        inside = self._inside.get(path, ()), self._only_inside.get(path, ())
        return words is None or not all(map(words.isdisjoint, (self._everywhere, *inside)))

    def _note(self, path: str, handed: handed_on.Handed) -> None:
        self.unknown = self.unknown or handed.unknown
        self._everywhere |= handed.anywhere
        self._called |= {(*each, path) for each in handed.called}
        self._add(path, handed.shared)
        if handed.names:
            self._inside.setdefault(path, set()).update(handed.names)
            self._keeping.add(path)

    def _having(self, codebase: CodeBase, word: str) -> Iterator[tuple[str, str]]:
        """(file, word) of those that may hand on what a word stands for in any file."""
        for path in codebase.mentioning(plain(word)):
            yield path, word

    def _importing(self, codebase: CodeBase, word: str, stem: str) -> Iterator[tuple[str, str]]:
        """As `_having`, of what files of a name share: (file, what the word is there)."""
        paths = set(codebase.mentioning(plain(word)))
        for path in codebase.mentioning(stem, "import"):
            if path not in self._imports:
                raw = codebase.bytes[path]
                self._imports[path] = handing_bytes.has_star(raw), handing_bytes.imports_of(raw)
            has_star, imports = self._imports[path]
            forms = {word} if has_star else set()
            if path in paths:
                forms |= handing_bytes.asked_as(codebase.bytes[path], imports, word, stem)
            for form in forms - self._inside.get(path, set()):
                self.borrowing.add(path)
                self._inside.setdefault(path, set()).add(form)
                if not form.startswith("."):
                    self._add(path, {form})
                yield path, form

    def _read(self, codebase: CodeBase, path: str, words: Collection[str] = ()) -> None:
        """Notes what a file hands on, of some words more."""
        self._left -= 1
        self.unknown = self.unknown or bool(words) and self._left < 0
        if self.unknown:
            return
        try:
            text = sources.read(path, codebase.bytes[path]).text
            if words and not any(handed_on.may_be_handed_on(text, word) for word in words):
                return
            nodes = walks.nodes(python_trees.parse(text, python_trees.HANDING))
        except (OSError,) + sources.UNREADABLE:
            return self.take_unread(codebase, path)
        imports = [walks.imported(node) for node in nodes.of(*walks.IMPORTS)]
        self.unknown = self.unknown or _has_star(imports)
        bound = _bound(imports)
        self._add_imports(path, bound)
        hot = self._everywhere.union(self._inside.get(path, ())) - _ROOTS
        self._note(path, handed_on.found(nodes, bound, hot))

    def _to_parameters(
        self, codebase: CodeBase, name: str, which: int | str, calls: str, caller: str
    ) -> Iterator[tuple[str, str]]:
        """(file, parameter) of what a file gives functions of a name, in a place or by its name."""
        for path in codebase.mentioning(name):
            given = handing_bytes.parameters_of(codebase.bytes[path], name, which)
            if given and parameters.may_call(codebase, caller, name, path):
                self.unknown = self.unknown or None in given
                inside = self._inside.setdefault(path, set())
                for word in sorted({word + calls for word in given if word} - inside):
                    inside.add(word)
                    self._keeping.add(path)
                    yield path, word


#: {how many there are of what is told: who follows it}.
_FOLLOWING: dict[int, Any] = {
    1: Carriers._having, 2: Carriers._importing, 4: Carriers._to_parameters,
}  # fmt: skip


def _words_of(node: Any) -> set[str] | None:
    """The words of a Name or Attribute, of which one has to stand for TensorFlow; None for any."""
    words: set[str] = set()
    calls = CALLS[:1]
    while type(node) is not cst.SimpleString:
        kind = type(node)
        if kind is cst.Call:
            if type(node.func) is cst.Name and node.func.value in handed_on.GIVING_BACK:
                return None
            node, calls = node.func, CALLS
            continue
        if kind not in (cst.Name, cst.Attribute, cst.Subscript):
            return None
        form = "." if kind is cst.Attribute else ""
        words.update(form + last_word(node) + each for each in calls)
        if kind is cst.Name:
            break
        node = node.value
    return words


def _both(words: Iterable[str]) -> set[str]:
    """Some words, as variables and as attributes."""
    return {form + word for word in words for form in ("", ".")}


def _has_star(imports: Iterable[Import]) -> bool:
    """Whether a file has ``from tensorflow import *``: then every word may be one of its names."""
    return any(
        ("*", None) in names and tensorflow_names.below_tensorflow(module or "") == ""
        for module, _, names in imports
    )


def _bound(
    imports: Iterable[Import], asked: asked_names.Asked = asked_names.is_asked_for
) -> dict[str, set[str]]:
    """{word: names below ``tf`` that it is imported as}, of those that a rule asks for."""
    found: dict[str, set[str]] = {root: {""} for root in ROOTS}
    for module, level, names in imports:
        for name, bound in names:
            full = name if module is None else "%s.%s" % (module, name)
            below = None if level else tensorflow_names.below_tensorflow(full)
            if module is None and not bound:
                full = bound = name.partition(".")[0]
                below = tensorflow_names.below_tensorflow(full)
            if below is None and not level and full.partition(".")[0] == "tpudist" or name in ROOTS:
                below = below or ""
            if below is not None and asked(below):
                found.setdefault(bound or name, set()).add(below)
            elif below and name == "*":
                for word in asked_names.below(below[:-2], asked):
                    found.setdefault(word, set()).add(below[:-1] + word)
    return found


def _stem(path: str) -> str:
    """The last word of the name that a file is imported by."""
    stem = os.path.splitext(os.path.basename(path))[0]
    return os.path.basename(os.path.dirname(os.path.abspath(path))) if stem == "__init__" else stem
