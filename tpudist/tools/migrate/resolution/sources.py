"""Reads and writes files so that what is not changed stays as it was.

A notebook is read as one module, see `tpudist.tools.migrate.resolution.notebooks`.
"""

from __future__ import annotations

import io
import re
import tokenize
from typing import NamedTuple

from tpudist.tools.migrate.resolution import notebooks

#: What Python's parser raises of code that is nested too deeply; the last one before Python 3.9.
TOO_DEEP = (RecursionError, MemoryError)
#: What reading a file may raise.
UNREADABLE = (SyntaxError, LookupError, ValueError, TypeError, *TOO_DEEP)


class Source(NamedTuple):
    """A file's source."""

    text: str  # the Python source, with the file's own newlines if it has several kinds
    encoding: str  # how to write it
    bom: bytes  # the bytes before it
    notebook: notebooks.Notebook | None  # that the text is of
    newline: str = ""  # what ends all lines of the file, if that is not what ends those of the text


#: Strings and comments: a word in them is no name.
TEXTS = re.compile(
    r"""(?s)\"{3}(?:[^\\]|\\.)*?\"{3}|'{3}(?:[^\\]|\\.)*?'{3}|\"(?:[^\"\\\n]|\\.)*\"|"""
    r"""'(?:[^'\\\n]|\\.)*'|#[^\n]*"""
)
_BOM = b"\xef\xbb\xbf"


def read(path: str, raw: bytes) -> Source:
    """The source in a file's bytes; ``.ipynb`` is a notebook, anything else Python.

    Raises:
      SyntaxError: the encoding declared is unknown, or bytes do not fit it.
      ValueError: a notebook that is not one.
    """
    if path.endswith(".ipynb"):
        text, notebook = notebooks.read(raw.decode("utf-8"))
        return Source(text, "utf-8", b"", notebook)
    encoding, _ = tokenize.detect_encoding(io.BytesIO(raw).readline)
    bom = _BOM if raw.startswith(_BOM) else b""
    encoding = "utf-8" if encoding == "utf-8-sig" else encoding
    text, newline = raw[len(bom) :].decode(encoding), ""
    if "\r" in text and text.count("\r\n") == text.count("\r") == text.count("\n"):
        text, newline = text.replace("\r\n", "\n"), "\r\n"
    return Source(text, encoding, bom, None, newline)


def written(source: Source, text: str) -> bytes:
    """The bytes of a file whose source became `text`; a name may not fit its encoding."""
    if source.newline:
        text = text.replace("\n", source.newline)
    if source.notebook is None:
        return source.bom + text.encode(source.encoding)
    return notebooks.written(source.notebook, text).encode("utf-8")
