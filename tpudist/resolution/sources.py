"""Reading files so that what is not changed is written back as it was.

A notebook is read as one module: its code cells one after the other, with
lines that are IPython's (``%``, ``!``) set aside as comments.
"""

import collections
import io
import json
import re
import tokenize

import libcst as cst

UNREADABLE = (
    SyntaxError,
    UnicodeDecodeError,
    LookupError,
    ValueError,
    KeyError,
    TypeError,
    RecursionError,
    cst.ParserSyntaxError,
)

Source = collections.namedtuple("Source", "text encoding bom notebook style")
Source.__doc__ = """A file's source.

Fields:
  text: the Python source, with the file's own newlines.
  encoding: how to write it.
  bom: the bytes before it.
  notebook: the parsed JSON of a notebook, else None.
  style: how that JSON was laid out: arguments of ``json.dumps``, and its end.
"""

_CELL = "#\u2500\u2500 tpudist cell %d \u2500\u2500"
_CELL_LINE = re.compile(r"^#\u2500\u2500 tpudist cell (\d+) \u2500\u2500\n", re.M)
_MAGIC = re.compile(r"^([ \t]*)([%!?].*|[\w.]+\?{1,2})$", re.M)
_PYTHON_CELLS = ("%%time", "%%timeit", "%%capture", "%%prun")
_SET_ASIDE = "pass  #\u2500magic\u2500 "
_BOM = b"\xef\xbb\xbf"


def read(path, raw):
    """The source in a file's bytes.

    Args:
      path: ``.ipynb`` is a notebook, anything else Python.
      raw: the bytes.

    Returns:
      A Source.

    Raises:
      SyntaxError: the encoding declared is unknown, or bytes do not fit it.
      ValueError: a notebook that is not one.
    """
    if path.endswith(".ipynb"):
        notebook = json.loads(raw.decode("utf-8"))
        return Source(_joined(notebook), "utf-8", b"", notebook, _style(raw.decode("utf-8")))
    encoding, _ = tokenize.detect_encoding(io.BytesIO(raw).readline)
    bom = _BOM if raw.startswith(_BOM) else b""
    encoding = "utf-8" if encoding == "utf-8-sig" else encoding
    return Source(raw[len(bom) :].decode(encoding), encoding, bom, None, None)


def written(source, text):
    """The bytes of a file whose source became `text`.

    Raises:
      UnicodeEncodeError: a new name does not fit the file's encoding.
    """
    if source.notebook is None:
        return source.bom + text.encode(source.encoding)
    cells = [cell for cell in source.notebook["cells"] if cell["cell_type"] == "code"]
    parts = _CELL_LINE.split(text)[1:]
    for index, body in zip(parts[::2], parts[1::2]):
        lines = _restored(body[:-1])
        cell = cells[int(index)]
        if "".join(cell["source"]) != lines:
            cell["source"] = lines.splitlines(True) if isinstance(cell["source"], list) else lines
    layout, end = source.style
    return (json.dumps(source.notebook, **layout) + end).encode("utf-8")


def _style(raw):
    """The layout of a notebook's JSON, so that only the cells changed differ."""
    indent = re.match(r"\{\r?\n( *)", raw)
    return {"indent": len(indent.group(1)) if indent else None, "ensure_ascii": raw.isascii()}, raw[
        len(raw.rstrip()) :
    ]


def cell_starts(text):
    """[(line that a cell's first line has in the joined text, the cell's number), ...]."""
    return [
        (text.count("\n", 0, found.end()) + 1, int(found.group(1)) + 1)
        for found in _CELL_LINE.finditer(text)
    ]


def _joined(notebook):
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    return "".join(
        "%s\n%s\n" % (_CELL % index, _set_aside("".join(cell["source"])))
        for index, cell in enumerate(cells)
    )


def _set_aside(text):
    if text.startswith("%%") and not text.startswith(_PYTHON_CELLS):
        return "\n".join(_SET_ASIDE + line for line in text.split("\n"))
    return _MAGIC.sub(lambda found: found.group(1) + _SET_ASIDE + found.group(2), text)


def _restored(text):
    return text.replace(_SET_ASIDE, "")
