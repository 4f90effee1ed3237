"""Reading files so that what is not changed is written back as it was.

A notebook is read as one module, see `tpudist.tools.migrate.resolution.notebooks`.
"""

import collections
import io
import re
import tokenize

import libcst as cst

from tpudist.tools.migrate.resolution import notebooks

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

Source = collections.namedtuple("Source", "text encoding bom notebook newline")
Source.__new__.__defaults__ = ("",)
Source.__doc__ = """A file's source.

Fields:
  text: the Python source, with the file's own newlines if it has several kinds.
  encoding: how to write it.
  bom: the bytes before it.
  notebook: the `Notebook` that the text is of, else None.
  newline: what ends all lines of the file, if that is not what ends those of the text.
"""

_TEXTS = (
    r"""(?s)\"{3}(?:[^\\]|\\.)*?\"{3}|'{3}(?:[^\\]|\\.)*?'{3}|\"(?:[^\"\\\n]|\\.)*\"|"""
    r"""'(?:[^'\\\n]|\\.)*'|#[^\n]*"""
)
#: Strings and comments, in which a name is none; the same of bytes.
TEXTS, TEXTS_OF_BYTES = re.compile(_TEXTS), re.compile(_TEXTS.encode("ascii"))
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
        text, notebook = notebooks.read(raw.decode("utf-8"))
        return Source(text, "utf-8", b"", notebook)
    encoding, _ = tokenize.detect_encoding(io.BytesIO(raw).readline)
    bom = _BOM if raw.startswith(_BOM) else b""
    encoding = "utf-8" if encoding == "utf-8-sig" else encoding
    text, newline = raw[len(bom) :].decode(encoding), ""
    if "\r" in text and text.count("\r\n") == text.count("\r") == text.count("\n"):
        text, newline = text.replace("\r\n", "\n"), "\r\n"
    return Source(text, encoding, bom, None, newline)


def written(source, text):
    """The bytes of a file whose source became `text`.

    Raises:
      UnicodeEncodeError: a new name does not fit the file's encoding.
    """
    if source.newline:
        text = text.replace("\n", source.newline)
    if source.notebook is None:
        return source.bom + text.encode(source.encoding)
    return notebooks.written(source.notebook, text).encode("utf-8")
