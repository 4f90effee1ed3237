"""The words of a code base that may stand for TensorFlow, or for a name of it that a rule asks for.

``config.size`` was followed to every call that hands on a config, only to learn that it is no
``tf.contrib.size``. It cannot be one where no such name of TensorFlow is kept in a variable, an
attribute or a parameter called ``config`` or ``size``; mostly they are called where they stand.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

import libcst as cst

from tpudist.eras import walks
from tpudist.migrate import handed_modules, handed_on
from tpudist.migrate.handed_on import CALLS, ROOTS
from tpudist.resolution import outside, parameters, python_trees, sources, tensorflow_names
from tpudist.resolution.module import last_word

if TYPE_CHECKING:
    import ast
    from typing import Collection, Iterable, Iterator, Sequence

    from tpudist.resolution.codebase import CodeBase

    #: (module, level, [(name, as)]) of an import statement; module is None without ``from``.
    Import = tuple["str | None", int, Sequence[tuple[str, "str | None"]]]

_ABOVE = "|".join(re.escape(name) for name in sorted(handed_on.ABOVE) if name).encode("ascii")
#: What a file has that hands on TensorFlow itself, or imports what is right above a rule's names;
#: a pattern that begins with a word is found many times as fast.
_HANDING = [
    rb"tf\b(?!\s*\.)(?<!\wtf)(?<!import tensorflow as tf)"
    rb"(?<!import tensorflow\.compat\.v[12] as tf)",
    rb"tensorflow\b(?! as tf\b|\s*\.)(?<!\wtensorflow)",
    rb"tensorflow\.(?:compat\.v[12](?! as tf\b)|%s)\b[\w.]*\s+(?:import|as)\b" % _ABOVE,
]
_STAR = re.compile(rb"import\s*\*")
#: A class; a function, its parameters, and whether they end early.
_DEFINED = rb"\b(?:class\s+%s\b|def\s+%s\s*\(([^()]*)(\()?)"
_WORD = re.compile(r"\w+")
_IN_IMPORT = re.compile(rb"[ \t]*(?:from|import)[ \t][\w., \t]*")
_CONTINUED = re.compile(rb"\\\r?\n")
_MOST = 3  # times the number of candidates: files that are read again


class Carriers:
    """Which words may stand for a name of TensorFlow that a rule asks for.

    Attributes:
      unknown: whether they may be any.
      handing: {path: as of `handed_modules.of`} of the files that hand on what today's TensorFlow
        has not, or what is above it.
    """

    def __init__(self) -> None:
        self.unknown = False
        self.handing: dict[str, frozenset[str]] = {}
        self._unsure: set[str] = set()
        self._everywhere: set[str] = set(ROOTS)
        self._inside: dict[str, set[str]] = {}
        self._only_inside: dict[str, set[str]] = {}
        self._shared: dict[str, set[str]] = {}
        self._called: set[tuple[str, int, str, str]] = set()
        self._outside = outside.Outside()
        self._left = 0

    def take(
        self,
        codebase: CodeBase,
        path: str,
        text: str,
        nodes: list[ast.AST],
        imports: Sequence[Import],
    ) -> None:
        """Notes what a file hands on.

        Args:
          codebase: the `CodeBase`.
          path: the file.
          text: its source.
          nodes: all its nodes, as of `tpudist.eras.walks.nodes`.
          imports: its import statements.
        """
        self._outside.look(codebase, path, imports)
        self.unknown = self.unknown or _has_star(imports)
        bound = _bound(imports)
        self._add(path, set(bound) - set(ROOTS))
        if handed_on.may_hand_on(text, bound):
            self._note(path, handed_on.found(nodes, bound, ()))
        self._keep(path, text, nodes, imports)

    def _keep(self, path: str, text: str, nodes: list[ast.AST], imports: Sequence[Import]) -> None:
        """Notes where a file itself keeps names that today's TensorFlow has not."""
        asked = handed_on.is_of_today
        bound = _bound(imports, asked)
        kept = set(bound)
        modules = handed_modules.of(text, nodes, bound)
        if modules is not None:
            handed = handed_on.found(nodes, bound, (), asked)
            kept |= handed.names | handed.anywhere
            if any(handed) or modules:
                self.handing[path] = modules
            if handed.unknown or handed.called or "importorskip" in text:
                self._unsure.add(path)
        self._only_inside.setdefault(path, set()).update(kept - set(ROOTS))

    def borrow(self, path: str, words: Iterable[str]) -> None:
        """Notes words that a file has from others, which are followed in that file only."""
        self._only_inside.setdefault(path, set()).update(words)

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
                if (b"tf" in raw or b"tensorflow" in raw) and _hands_on(
                    raw, path.endswith(".ipynb")
                ):
                    self._read(codebase, path)
        self.unknown = self.unknown or self._outside.has_tensorflow(codebase)
        self._left = 100 + _MOST * len(known)
        done: set[tuple[Any, ...]] = set()
        while not self.unknown:
            new: set[tuple[Any, ...]] = {(word,) for word in self._everywhere - set(ROOTS)}
            new |= {(word, _stem(path)) for path, words in self._shared.items() for word in words}
            new |= self._called
            new -= done
            if not new:
                break
            done |= new
            again: dict[str, set[str]] = {}
            for word, *where in sorted(new, key=repr):
                if len(where) == 3:
                    self._to_parameters(codebase, word, *where)
                else:
                    for path in self._following(codebase, word, *where):
                        again.setdefault(path, set()).add(word)
            for path, words in sorted(again.items()):
                self._read(codebase, path, words)

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

    def _following(self, codebase: CodeBase, word: str, stem: str | None = None) -> Iterator[str]:
        """Files that may hand on what a word stands for; of files of a name, if that is given."""
        paths = codebase.mentioning(_plain(word))
        if stem is not None:
            near = codebase.mentioning(stem, "import")
            stars = [path for path in near if _STAR.search(codebase.bytes[path])]
            asking = [path for path in set(paths) & set(near)
                      if _asks(codebase.bytes[path], _plain(word), stem)]  # fmt: skip
            paths = sorted({*asking, *stars})
        for path in paths:
            if stem is None or word not in self._inside.get(path, ()):
                if stem is not None:
                    self._add(path, {word})
                yield path

    def _read(self, codebase: CodeBase, path: str, words: Collection[str] = ()) -> None:
        """Notes what a file hands on, of some words more."""
        self._left -= 1
        self.unknown = self.unknown or bool(words) and self._left < 0
        if self.unknown:
            return
        try:
            text = sources.read(path, codebase.bytes[path]).text
            plain = {_plain(word) for word in words}
            if words and not any(handed_on.may_be_handed_on(text, word) for word in plain):
                return
            nodes = walks.nodes(python_trees.parse(text))
        except (OSError,) + sources.UNREADABLE:
            return self.take_unread(codebase, path)
        imports = [walks.imported(node) for node in nodes if type(node) in walks.IMPORTS]
        aliases = [each for *_, names in imports for each in names if each[1] and each[0] in plain]
        self._add(
            path,
            {
                "%s%s" % (alias, word[len(name) :])
                for name, alias in aliases
                for word in words
                if _plain(word) == name
            },
        )
        self.unknown = self.unknown or _has_star(imports)
        bound = _bound(imports)
        self._add(path, set(bound) - set(ROOTS))
        hot = self._everywhere.union(self._inside.get(path, ())) - set(ROOTS)
        self._note(path, handed_on.found(nodes, bound, hot))

    def _to_parameters(
        self, codebase: CodeBase, name: str, index: int, calls: str, caller: str
    ) -> None:
        """Has what a file gives functions of a name, in a place, stand in that parameter."""
        for path in codebase.mentioning(name):
            raw, text = re.escape(name.encode("utf-8")), codebase.bytes[path]
            found = list(re.finditer(_DEFINED % (raw, raw), text))
            if found and parameters.may_call(codebase, caller, name, path):
                if any(match.group(1) is None for match in found):
                    found += re.finditer(_DEFINED % (b"__init__", b"__init__"), text)
                for match in found:
                    self._give(text, match, index, calls)

    def _give(self, text: bytes, match: re.Match[bytes], index: int, calls: str) -> None:
        every, more = match.groups()
        if every is None:
            return
        each = [_WORD.search(one) for one in every.decode("utf-8", "replace").split(",")]
        words = [one.group() for one in each if one]
        is_method = text[: match.start()].endswith((b" ", b"\t"))
        is_named = is_method and words[:1] == ["self"]
        last = index + 1 + is_method
        if re.search(rb"[\[{'\"]", every):  # with commas in it, perhaps
            last = len(words)
        self._everywhere.update(word + calls for word in words[index + is_named : last])
        self.unknown = self.unknown or bool(more) and len(words) < last + 1


def _hands_on(raw: bytes, is_notebook: bool) -> bool:
    if not any(re.search(pattern, raw) for pattern in _HANDING):
        return False
    if is_notebook:
        return True
    without = sources.TEXTS_OF_BYTES.sub(_in_braces, raw)
    return any(re.search(pattern, without) for pattern in _HANDING)


def _in_braces(text: re.Match[bytes]) -> bytes:
    """What there is to read of a string: all, if it has braces."""
    return text.group() if b"{" in text.group() else b""


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
        words.update(last_word(node) + each for each in calls)
        if kind is cst.Name:
            break
        node = node.value
    return words


def _asks(raw: bytes, word: str, stem: str) -> bool:
    """Whether a file imports a word from a module, or has it after a dot, but for imports."""
    for match in re.finditer(rb"\.[ \t]*%s\b" % re.escape(word.encode("utf-8")), raw):
        if _IN_IMPORT.fullmatch(raw, raw.rfind(b"\n", 0, match.start()) + 1, match.start()) is None:
            return True
    return any(
        word == name and (module or stem).rpartition(".")[2] == stem
        for module, _, names in outside.imports(_CONTINUED.sub(b" ", raw))
        for name, _ in names
    )


def _plain(word: str) -> str:
    """A word, without the `handed_on.CALLS` after it."""
    return word.partition("(")[0]


def _has_star(imports: Iterable[Import]) -> bool:
    """Whether a file has ``from tensorflow import *``: then every word may be one of its names."""
    return any(
        ("*", None) in names and tensorflow_names.below_tensorflow(module or "") == ""
        for module, _, names in imports
    )


def _bound(
    imports: Iterable[Import], asked: handed_on.Asked = handed_on.is_asked_for
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
                for word in handed_on.below(below[:-2], asked):
                    found.setdefault(word, set()).add(below[:-1] + word)
    return found


def _stem(path: str) -> str:
    """The last word of the name that a file is imported by."""
    stem = os.path.splitext(os.path.basename(path))[0]
    return os.path.basename(os.path.dirname(os.path.abspath(path))) if stem == "__init__" else stem
