"""Answers of the compiler, kept: a program is compiled once.

A file per program, slice, options and libtpu, in the folder that
``tpudist matrix`` keeps its environments in too (``TPUDIST_CACHE``). How much is
kept is bounded: :mod:`tpudist.tools.compile.pruning`.
"""

import contextlib
import hashlib
import json
import os

import tpudist
from tpudist import files
from tpudist.tools.compile import pruning
from tpudist.tools.matrix import cache as folders

#: Changes when what is kept of an answer does.
_FORMAT = 3


def path(hlo, request, compiler, environ=None):
    """The file of one compilation.

    Args:
      hlo: bytes, the normalized program.
      request: what else the compiler is told, of JSON types.
      compiler: text that changes when the compiler does.
      environ: variables to read instead of this process' own.
    """
    told = json.dumps([_FORMAT, tpudist.__version__, compiler, request], sort_keys=True)
    digest = hashlib.sha256(told.encode() + b"\0" + hlo).hexdigest()
    return place("compile", digest, environ)


def place(kind, digest, environ=None):
    """The file of something that is kept.

    Args:
      kind: of what.
      digest: of what it depends on.
      environ: as of :func:`path`.
    """
    return os.path.join(folders.folder(None, environ), kind, digest + ".json")


def read(name):
    """What is kept in a file; None if there is none, or it cannot be read.

    The file is in use by that.

    Args:
      name: what :func:`path` returned.
    """
    try:
        with open(name, encoding="utf-8") as file:
            with contextlib.suppress(OSError):
                os.utime(file.fileno())
            return json.load(file)
    except (OSError, ValueError):
        return None


def write(name, answer):
    """Keeps an answer, and removes what is then too much; False if that cannot be written.

    Args:
      name: what :func:`path` returned.
      answer: of JSON types.
    """
    try:
        files.write(name, json.dumps(answer))
        pruning.prune(os.path.dirname(os.path.dirname(name)))
    except OSError:
        return False
    return True
