"""Finds libtpu, the library of the TPU compiler.

It comes from PyPI (``pip install 'tpudist[compile]'``), or is a file that
``TPUDIST_LIBTPU`` names. It is Google's and under Google Cloud's terms, not
open source; tpudist does not contain it.
"""

from __future__ import annotations

import glob
import importlib.util
import os
import platform
import sys
import typing
from typing import TYPE_CHECKING

from tpudist.errors import CompileError

if TYPE_CHECKING:
    from typing import Mapping


#: How to get the newest libtpu on a Python that pip offers none for.
DOWNLOAD = (
    "pip download --no-deps --only-binary=:all: --python-version 3.12 "
    "--platform manylinux_2_31_x86_64 libtpu && unzip libtpu-*.whl, then "
    "TPUDIST_LIBTPU=libtpu/libtpu.so"
)

_FILE = "libtpu.so"


class Libtpu(typing.NamedTuple):
    """A libtpu on this machine.

    Args:
      path: of the library.
      version: of its distribution, such as ``"0.0.52"``; "" if it has none.
    """

    path: str
    version: str

    def identity(self) -> str:
        """Returns a text that changes when the library does, for the cache.

        It is the same for a version wherever and whenever that was installed.
        """
        status = os.stat(self.path)
        return "%d %s" % (status.st_size, self.version or status.st_mtime_ns)


def find(environ: Mapping[str, str] | None = None) -> Libtpu:
    """Finds the libtpu to compile with.

    Args:
      environ: variables to read instead of this process' own.

    Returns:
      The `Libtpu` that TPUDIST_LIBTPU names, else that of the installed package.

    Raises:
      CompileError: there is none, or libtpu cannot run on this machine.
    """
    environ = os.environ if environ is None else environ
    _check_machine(sys.platform, platform.machine())
    path = environ.get("TPUDIST_LIBTPU")
    if not path:
        path = _installed()
    elif os.path.isdir(path):
        path = os.path.join(path, _FILE)
    if path is None:
        raise CompileError(
            "no libtpu is installed",
            "it is the TPU compiler, and tpudist does not contain it",
            "pip install 'tpudist[compile]'; or " + DOWNLOAD,
        )
    path = os.path.abspath(os.path.expanduser(path))
    if not os.path.isfile(path):
        raise CompileError(
            "TPUDIST_LIBTPU=%s" % environ.get("TPUDIST_LIBTPU", path),
            "there is no such file",
            "the path of a libtpu.so; " + DOWNLOAD,
        )
    return Libtpu(path, _version(path))


def _check_machine(system: str, machine: str) -> None:
    if system != "linux" or machine.lower() not in ("x86_64", "amd64"):
        raise CompileError(
            "this machine is %s on %s" % (system, machine),
            "libtpu is built for x86-64 Linux only",
            "run it in CI or in a container of linux/amd64",
        )


def _installed() -> str | None:
    """Returns the path of the installed package's library, without importing it; else None."""
    spec = importlib.util.find_spec("libtpu")
    for folder in spec.submodule_search_locations or () if spec else ():
        path = os.path.join(folder, _FILE)
        if os.path.isfile(path):
            return path
    return None


def _version(path: str) -> str:
    """Returns the version in the name of the ``.dist-info`` beside the library's folder."""
    beside = os.path.dirname(os.path.dirname(path))
    for folder in glob.glob(os.path.join(glob.escape(beside), "libtpu-*.dist-info")):
        return os.path.basename(folder)[len("libtpu-") : -len(".dist-info")]
    return ""
