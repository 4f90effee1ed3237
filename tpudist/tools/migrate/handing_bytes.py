"""What the bytes of a file tell of the names that it hands on, before it is parsed."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING

from tpudist.tools.migrate import asked_names
from tpudist.tools.migrate.handed_on import plain
from tpudist.tools.migrate.resolution import outside, sources, tensorflow_names

if TYPE_CHECKING:
    from typing import Iterable, Iterator

    Import = tuple["str | None", int, list[tuple[str, "str | None"]]]

_ABOVE = "|".join(re.escape(name) for name in sorted(asked_names.ABOVE) if name).encode("ascii")
#: What a file has that hands on TensorFlow itself, or imports what is right above a rule's names;
#: a pattern that begins with a word is found many times as fast.
_HANDING = [
    rb"tf\b(?!\s*\.)(?<!\wtf)(?<!import tensorflow as tf)"
    rb"(?<!import tensorflow\.compat\.v[12] as tf)",
    rb"tensorflow\b(?! as tf\b|\s*\.)(?<!\wtensorflow)",
    rb"tensorflow\.(?:compat\.v[12](?! as tf\b)|%s)\b[\w.]*\s+(?:import|as)\b" % _ABOVE,
]
#: A function, its parameters, and whether they end early; a class.
_FUNCTION = rb"def(?<!\wdef)\s+%s\s*\(([^()]*)(\()?"
_CLASS = rb"class(?<!\wclass)\s+%s\b"
_STAR = re.compile(rb"import\s*\*")
_WORD = re.compile(r"\w+")
_ASKED_FOR = re.compile(rb"""[."'](\w+)""")
_IN_IMPORT = re.compile(rb"[ \t]*(?:from|import)[ \t][\w., \t]*")


def hands_on(raw: bytes, is_notebook: bool) -> bool:
    """Whether a file may hand on TensorFlow itself, or imports what is right above names of it.

    Args:
      raw: its bytes.
      is_notebook: whether all its code stands in strings.
    """
    if not any(re.search(pattern, raw) for pattern in _HANDING):
        return False
    if is_notebook:
        return True
    without = sources.TEXTS_OF_BYTES.sub(_in_braces, raw)
    return any(re.search(pattern, without) for pattern in _HANDING)


def _in_braces(text: re.Match[bytes]) -> bytes:
    """What there is to read of a string: all, if it has braces."""
    return text.group() if b"{" in text.group() else b""


def imports_of(raw: bytes) -> list[Import]:
    """The imports of a file that are not of TensorFlow's own modules."""
    return [
        (module, level, names)
        for module, level, names in outside.imports(raw)
        if level or tensorflow_names.below_tensorflow(module or "") is None
    ]


def has_star(raw: bytes) -> bool:
    """Whether a file imports all names of some module."""
    return _STAR.search(raw) is not None


def asked_as(raw: bytes, imports: Iterable[Import], word: str, stem: str) -> set[str]:
    """What a word of modules of a name is in a file.

    Args:
      raw: its bytes.
      imports: as of `imports_of`.
      word: as of `tpudist.tools.migrate.handed_on`.
      stem: the last word of the name that the modules are imported by.

    Returns:
      Words: of the variable that is imported, under whatever name, and of an attribute.
    """
    found, name = set(), plain(word)
    ends = rb"(?!\s*\.)" if word != name else rb""  # a function is called, or handed on
    for match in re.finditer(rb"\.[ \t]*%s\b%s" % (re.escape(name.encode("utf-8")), ends), raw):
        if _IN_IMPORT.fullmatch(raw, raw.rfind(b"\n", 0, match.start()) + 1, match.start()) is None:
            found.add("." + word)
            break
    for module, _, names in imports:
        if (module or stem).rpartition(".")[2] == stem:
            found |= {(bound or each) + word[len(name) :] for each, bound in names if each == name}
    return found


def asks(raw: bytes, words: Iterable[str]) -> bool:
    """Whether a file may ask what some words stand for in it for a name that is followed.

    Args:
      raw: its bytes.
      words: as of `tpudist.tools.migrate.handed_on`.
    """
    for word in {plain(each).encode("utf-8") for each in words}:
        for rest in re.findall(rb"%s(?<!\w%s)\b([^\n]*)" % (word, word), raw):
            if not _last_words().isdisjoint(_ASKED_FOR.findall(rest)):
                return True
    return False


@functools.lru_cache(maxsize=None)
def _last_words() -> frozenset[bytes]:
    return frozenset(word.encode("ascii") for word in asked_names.last_words())


def parameters_of(raw: bytes, name: str, which: int | str) -> set[str | None]:
    """The parameters that may get what a call of a function, or a class, is given.

    Args:
      raw: the bytes of the file that may define it.
      name: the function.
      which: in which place it is given, or by which keyword.

    Returns:
      Their names; None beside them if there may be others.
    """
    word = re.escape(name.encode("utf-8"))
    found = list(re.finditer(_FUNCTION % word, raw))
    for match in re.finditer(_CLASS % word, raw):
        found += _constructors(raw, match.end())
    return {each for match in found for each in _given(raw, match, which)}


def _constructors(raw: bytes, start: int) -> list[re.Match[bytes]]:
    """The constructor of the class that begins somewhere in a file; all, if it has none."""
    every = list(re.finditer(_FUNCTION % b"__init__", raw))
    end = raw.find(b"\nclass ", start)
    own = [each for each in every if start < each.start() < (end if end > 0 else len(raw))]
    return own or every


def _given(raw: bytes, match: re.Match[bytes], which: int | str) -> Iterator[str | None]:
    every, more = match.groups()
    if isinstance(which, str):
        yield which
        return
    each = [_WORD.search(one) for one in every.decode("utf-8", "replace").split(",")]
    words = [one.group() for one in each if one]
    is_method = raw[: match.start()].endswith((b" ", b"\t"))
    is_named = is_method and words[:1] == ["self"]
    last = which + 1 + is_method
    if re.search(rb"[\[{'\"]", every):  # with commas in it, perhaps
        last = len(words)
    if more and len(words) < last + 1:
        yield None
    yield from words[which + is_named : last]
