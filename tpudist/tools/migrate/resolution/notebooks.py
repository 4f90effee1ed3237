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
from typing import Any, Iterable, List, NamedTuple, Tuple

#: (line, text, why) of lines that are not read as Python; `why` is "" for IPython's own.
_Aside = List[Tuple[int, str, str]]


class Notebook(NamedTuple):
    """A notebook's JSON.

    Args:
      raw: its text.
      spans: (start, end) in it of the source of each code cell.
      aside: (line of the module, text, why) of what is not read as Python; `why`
        is "" for IPython's own lines.
    """

    raw: str
    spans: list[tuple[int, int]]
    aside: _Aside


_CELL = "#\u2500\u2500 tpudist cell %d \u2500\u2500"
_INDENTED = "if True:  "  # before the marker of a cell that is indented as a whole
_CELL_LINE = re.compile(
    r"^(?:%s)?#\u2500\u2500 tpudist cell (\d+) \u2500\u2500\n" % re.escape(_INDENTED), re.M
)
_MAGIC = re.compile(r"^([ \t]*)([%!?].*|[\w.]+\?{1,2})$")
_ASSIGNED = re.compile(r"^([ \t]*[\w.,\[\]'\" ]+?[ \t]*=[ \t]*)([%!][^=].*)$")
_PYTHON_CELLS = ("%%time", "%%timeit", "%%capture", "%%prun")
_SET_ASIDE = "pass  #\u2500magic\u2500 "
_SET_ASIDE_VALUE = "str()  #\u2500magic\u2500 "
_SET_ASIDE_REST = "#\u2500rest\u2500 "
_REST = re.compile(r"^[ \t]*" + _SET_ASIDE_REST, re.M)
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_SPACE = " \t\r\n"
_SPACES = re.compile("[%s]*" % _SPACE)
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_DECODER = json.JSONDecoder()
_AWAIT = getattr(ast, "PyCF_ALLOW_TOP_LEVEL_AWAIT", 0)
#: Characters that Colab writes as escapes.
_ESCAPED = {each: "\\u%04x" % ord(each) for each in "<>&'="}


def read(raw: str) -> tuple[str, Notebook]:
    """(the source of the module, the `Notebook`) of a notebook's text.

    Raises:
      ValueError, KeyError, TypeError: it is no notebook.
    """
    cells = json.loads(raw)["cells"]
    texts = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    joined: list[str] = []
    aside: _Aside = []
    line = 1
    for index, text in enumerate(texts):
        body, head, lines = _python(text)
        aside += [(line + 1 + number, words, why) for number, words, why in lines]
        joined.append("%s%s\n%s\n" % (head, _CELL % index, body))
        line += joined[-1].count("\n")
    return "".join(joined), Notebook(raw, _spans(raw, cells), aside)


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
        start, end = notebook.spans[int(index)]
        value = raw[start:end]
        new = _restored(body[:-1])
        if "".join(json.loads(value)) != new:
            value = _encoded(raw, value, new)
        parts += [raw[last:start], value]
        last = end
    return "".join(parts) + raw[last:]


def _python(text: str) -> tuple[str, str, _Aside]:
    """(a cell as Python, what stands before its marker, [(line from 0, text, why) set aside])."""
    if text.lstrip().startswith("%%") and not text.lstrip().startswith(_PYTHON_CELLS):
        return _all_aside(text, "")
    if _parses(text):
        return text, "", []
    body, aside = _magics(text)
    if _parses(body):
        return body, "", aside
    if _parses(_INDENTED + "\n" + body):
        return body, _INDENTED, aside
    return _all_aside(text, "it is not Python 3")


def _parses(text: str) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(text, "cell", "exec", _AWAIT | ast.PyCF_ONLY_AST, dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError):
            return False
    return True


def _all_aside(text: str, why: str) -> tuple[str, str, _Aside]:
    """As `_python`, of a cell that is not read."""
    lines = text.split("\n")
    return (
        "\n".join(_SET_ASIDE + line for line in lines),
        "",
        [(number, line, why) for number, line in enumerate(lines)],
    )


def _magics(text: str) -> tuple[str, _Aside]:
    """(a cell with IPython's lines as comments, those lines)."""
    lines: list[str] = []
    aside: _Aside = []
    goes_on = False
    for number, line in enumerate(text.split("\n")):
        magic, assigned = _MAGIC.match(line), _ASSIGNED.match(line)
        if goes_on:
            lines.append(_continued(line, lines[-1]))
        elif magic:
            lines.append(magic.group(1) + _SET_ASIDE + magic.group(2))
        elif assigned:
            lines.append(assigned.group(1) + _SET_ASIDE_VALUE + assigned.group(2))
        else:
            lines.append(line)
        if goes_on or magic or assigned:
            aside.append((number, line, ""))
        goes_on = bool(goes_on or magic or assigned) and line.endswith("\\")
    return "\n".join(lines), aside


def _continued(line: str, before: str) -> str:
    """A line that goes on with a magic, set aside at the indentation of the one before it."""
    indent = before[: len(before) - len(before.lstrip(" \t"))]
    return indent + _SET_ASIDE_REST + line


def _restored(body: str) -> str:
    """A cell as it was before `_python`, but for what was changed in it."""
    return _REST.sub("", body).replace(_SET_ASIDE_VALUE, "").replace(_SET_ASIDE, "")


def _encoded(raw: str, value: str, text: str) -> str:
    """A cell's new source as JSON, laid out as the old one; lines that stay, stay as they were."""
    if value.startswith('"'):
        return _string(raw, text)
    old = [found.group() for found in _STRING.finditer(value)]
    known = {json.loads(each): each for each in old}
    lines = [known.get(line) or _string(raw, line) for line in _LINE.findall(text)]
    inside = value[1:-1]
    first = inside[: len(inside) - len(inside.lstrip(_SPACE))]
    last = inside[len(inside.rstrip(_SPACE)) :]
    between = re.search(r'"(,[ \t\r\n]*)"', value) if len(old) > 1 else None
    comma = between.group(1) if between else "," + (first or " ")
    return "[" + first + comma.join(lines) + last + "]"


def _string(raw: str, text: str) -> str:
    """A JSON string, with the escapes that the notebook's other strings have."""
    found = json.dumps(text, ensure_ascii=raw.isascii())
    for character, escape in _ESCAPED.items():
        if escape in raw:
            found = found.replace(character, escape)
    return found


def _spans(raw: str, cells: Iterable[Any]) -> list[tuple[int, int]]:
    """(start, end) of the value "source" of each code cell."""
    start = _after(raw, _key(raw, 0, "cells"), "[")
    found = []
    for cell in cells:
        start = _after_space(raw, start)
        _, end = _DECODER.raw_decode(raw, start)
        if cell["cell_type"] == "code":
            first = _key(raw, start, "source")
            found.append((first, _DECODER.raw_decode(raw, first)[1]))
        start = _after(raw, end, ",") if raw[_after_space(raw, end)] == "," else end
    return found


def _after_space(raw: str, start: int) -> int:
    """Where what follows white space starts."""
    space = _SPACES.match(raw, start)
    return space.end() if space else start


def _after(raw: str, start: int, character: str) -> int:
    """Where a character ends that must be the next one after white space."""
    start = _after_space(raw, start)
    if raw[start] != character:
        raise ValueError("no %r at %d of the notebook" % (character, start))
    return start + 1


def _key(raw: str, start: int, name: str) -> int:
    """Where the value of an object's key starts; the last one of that name counts."""
    start, found = _after(raw, start, "{"), None
    while True:
        key, start = _DECODER.raw_decode(raw, _after_space(raw, start))
        start = _after_space(raw, _after(raw, start, ":"))
        if key == name:
            found = start
        _, start = _DECODER.raw_decode(raw, start)
        if raw[_after_space(raw, start)] == "}":
            break
        start = _after(raw, start, ",")
    if found is None:
        raise KeyError(name)
    return found
