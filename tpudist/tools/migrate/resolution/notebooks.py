"""A notebook is read as one Python module: its code cells, one after the other.

What is IPython's and not Python is set aside as comments, and comes back when
the module is written. Of the file only the cells that changed are written, and
of a cell only its lines: all else stays byte for byte.
"""

from __future__ import annotations

import ast
import json
import re
import warnings
from typing import Any, List, NamedTuple, Tuple

#: (line, text, why) of lines that are not read as Python; `why` is "" for IPython's own.
_Aside = List[Tuple[int, str, str]]


class Notebook(NamedTuple):
    """A notebook's JSON."""

    raw: str  # its text
    sources: list[Any]  # the source of each code cell: a `_Placed`, or a list of one a line
    aside: _Aside  # of the module


_JSON: Any = json  # the stubs of the standard library leave out what is asked of it


class _Placed(str):
    """A string of a JSON text: where it starts and ends there, with its quotes."""

    start: int
    end: int


class _Decoder(json.JSONDecoder):
    """Reads JSON as Python's own decoder does, with strings that know where they stand."""

    def __init__(self) -> None:
        super().__init__()
        self.parse_string = self._string
        self.scan_once = _JSON.scanner.py_make_scanner(self)  # the one in C asks no parse_string

    def _string(self, text: str, start: int, strict: bool = True) -> tuple[str, int]:
        value, end = _JSON.decoder.scanstring(text, start, strict)
        placed = _Placed(value)
        placed.start, placed.end = start - 1, end
        return placed, end


_CELL = "#\u2500\u2500 tpudist cell %d \u2500\u2500"
_INDENTED = "if True:  "  # before the marker of a cell that is indented as a whole
_CELL_LINE = re.compile(
    r"^(?:%s)?#\u2500\u2500 tpudist cell (\d+) \u2500\u2500\n" % re.escape(_INDENTED), re.M
)
_LINES = r".*(?:(?<=\\)\n.*)*"  # one that goes on with the next ends in a backslash
_MAGIC = re.compile(r"^([ \t]*)([%!?]" + _LINES + r"|[\w.]+\?{1,2})$", re.M)
_ASSIGNED = re.compile(r"^([ \t]*[\w.,\[\]'\" ]+?[ \t]*=[ \t]*)([%!][^=]" + _LINES + ")$", re.M)
_PYTHON_CELLS = ("%%time", "%%timeit", "%%capture", "%%prun")
_SET_ASIDE = "pass  #\u2500magic\u2500 "
_SET_ASIDE_VALUE = "str()  #\u2500magic\u2500 "
_SET_ASIDE_REST = "#\u2500rest\u2500 "
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_AWAIT = getattr(ast, "PyCF_ALLOW_TOP_LEVEL_AWAIT", 0)
#: Characters that Colab writes as escapes.
_ESCAPED = {each: "\\u%04x" % ord(each) for each in "<>&'="}


def read(raw: str) -> tuple[str, Notebook]:
    """(the module's source, the `Notebook`) of a text; raises if it is none."""
    cells = _Decoder().decode(raw)["cells"]
    found = [cell["source"] for cell in cells if cell["cell_type"] == "code"]
    texts = ["".join(source) for source in found]
    joined: list[str] = []
    aside: _Aside = []
    line = 1
    for index, text in enumerate(texts):
        body, head, lines = _python(text)
        aside += [(line + 1 + number, words, why) for number, words, why in lines]
        joined.append("%s%s\n%s\n" % (head, _CELL % index, body))
        line += joined[-1].count("\n")
    return "".join(joined), Notebook(raw, found, aside)


def cell_starts(text: str) -> list[tuple[int, int]]:
    """[(line that a cell's first line has in the module, the cell's number), ...]."""
    return [
        (text.count("\n", 0, found.end()) + 1, int(found.group(1)) + 1)
        for found in _CELL_LINE.finditer(text)
    ]


def written(notebook: Notebook, text: str) -> str:
    """The notebook's text after its module became `text`."""
    parts: list[str] = []
    raw, last = notebook.raw, 0
    pieces = _CELL_LINE.split(text)[1:]
    for index, body in zip(pieces[::2], pieces[1::2]):
        source, new = notebook.sources[int(index)], body[:-1]
        for mark in (_SET_ASIDE_REST, _SET_ASIDE_VALUE, _SET_ASIDE):
            new = new.replace(mark, "")
        if "".join(source) != new:
            lines: list[Any] = [source] if isinstance(source, str) else source
            parts += [raw[last : lines[0].start], _encoded(raw, source, new)]
            last = lines[-1].end
    return "".join(parts) + raw[last:]


def _python(text: str) -> tuple[str, str, _Aside]:
    """(a cell as Python, what stands before its marker, [(line from 0, text, why) set aside])."""
    is_other = text.lstrip().startswith("%%") and not text.lstrip().startswith(_PYTHON_CELLS)
    if not is_other:
        if _parses(text):
            return text, "", []
        body, aside = _magics(text)
        for head in ("", _INDENTED):
            if _parses(head + "\n" * bool(head) + body):
                return body, head, aside
    lines, why = text.split("\n"), "" if is_other else "it is not Python 3"
    all_aside = [(number, line, why) for number, line in enumerate(lines)]
    return "\n".join(_SET_ASIDE + line for line in lines), "", all_aside


def _parses(text: str) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(text, "cell", "exec", _AWAIT | ast.PyCF_ONLY_AST, dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError):
            return False
    return True


def _magics(text: str) -> tuple[str, _Aside]:
    """(a cell with IPython's lines as comments, those lines)."""
    aside: _Aside = []
    for pattern, mark in ((_MAGIC, _SET_ASIDE), (_ASSIGNED, _SET_ASIDE_VALUE)):
        for found in pattern.finditer(text):
            first = text.count("\n", 0, found.start())
            lines = found.group().split("\n")
            aside += [(first + number, line, "") for number, line in enumerate(lines)]
        for found in list(pattern.finditer(text))[::-1]:
            rest = mark + found.group(2).replace("\n", "\n" + _SET_ASIDE_REST)
            text = text[: found.start(2)] + rest + text[found.end() :]
    return text, sorted(aside)


def _encoded(raw: str, source: Any, text: str) -> str:
    """A cell's new source as JSON, between the brackets; lines that stay are as they were."""
    if isinstance(source, str):
        return _string(raw, text)
    known = {line: raw[line.start : line.end] for line in source}
    between = raw[source[0].end : source[1].start] if len(source) > 1 else ", "
    return between.join(known.get(line) or _string(raw, line) for line in _LINE.findall(text))


def _string(raw: str, text: str) -> str:
    """A JSON string, with the escapes that the notebook's other strings have."""
    found = json.dumps(text, ensure_ascii=raw.isascii())
    for character, escape in _ESCAPED.items():
        if escape in raw:
            found = found.replace(character, escape)
    return found
