"""Names that a machine fixes: variables, folders of packages, TensorFlow's wheels.

Each is written down here only. No TensorFlow, and no import of the rest.
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
import sys
import sysconfig
import types
from typing import Iterator, Mapping

#: The folder of this package.
PACKAGE = os.path.dirname(os.path.abspath(__file__))

#: The project's address, at which differences are reported; empty until it has one.
PROJECT = ""

#: Environment variable that overrides whatever TPU name a script passes.
TPU = "TPUDIST_TPU"

#: Environment variable that, if it is 0, has the virtual TPU do every op once per replica.
VECTORIZE = "TPUDIST_VECTORIZE"

#: Environment variable that lets an error of a batching rule, or of a check, end the program; for
#: tests.
STRICT_BATCHING = "TPUDIST_STRICT_BATCHING"

#: Environment variable that says what becomes of what a TPU would refuse: "warn", "error" or "off".
TPU_CHECK = "TPUDIST_TPU_CHECK"

#: Environment variable that, if it is 1, rounds operands of products as a TPU does.
TPU_NUMBERS = "TPUDIST_TPU_NUMBERS"

#: Environment variable: the steps after which a cluster compares the variables of its workers.
CHECK_REPLICAS = "TPUDIST_CHECK_REPLICAS"

#: Environment variable: seconds in which all workers of a cluster have to come; by default 300.
START_TIMEOUT = "TPUDIST_START_TIMEOUT"

#: Environment variable: the seed of what a program on a cluster draws without a seed of its own.
SEED = "TPUDIST_SEED"

#: Environment variable of TensorFlow's: whether ``tf.keras`` is the package ``tf_keras``
#: (from 2.16 on), and what says so.
LEGACY_KERAS = "TF_USE_LEGACY_KERAS"
YES = ("1", "true", "True")

#: Folders of installed packages: what is below one is nobody's own code.
INSTALLED = ("site-packages", "dist-packages")

#: Folders, and files that AutoGraph writes, whose code is not the program's.
_INSTALLED = map(sysconfig.get_path, ("stdlib", "platstdlib", "purelib", "platlib"))
_OTHERS = tuple(os.path.join(folder, "") for folder in {*_INSTALLED, PACKAGE})
_GENERATED = re.compile(r"<frozen|.*[/\\](tmp|__autograph_generated_file)\w{8}\.py$")

#: Wheels that ``tensorflow`` itself asks for on some machine.
PARTS_OF_TENSORFLOW = ("tensorflow-intel", "tensorflow-macos", "tensorflow-cpu-aws")

#: The wheels that put a package ``tensorflow`` into site-packages. Two of them
#: overwrite each other, unless one is a part of the other.
TENSORFLOWS = (
    *("tensorflow", "tensorflow-cpu", "tensorflow-gpu", "tensorflow-tpu"),
    *("intel-tensorflow", "tf-nightly", "tf-nightly-cpu", "tf-nightly-gpu", "tf-nightly-tpu"),
    *PARTS_OF_TENSORFLOW,
)


@contextlib.contextmanager
def restored(variable: str) -> Iterator[None]:
    """Context manager: restores an environment variable when the block ends."""
    before = os.environ.get(variable)
    try:
        yield
    finally:
        os.environ.pop(variable, None)
        if before is not None:
            os.environ[variable] = before


def cache_folder(
    asked: str | None = None, environ: Mapping[str, str] | None = None, system: str | None = None
) -> str:
    """The cache folder: the one asked for, that of TPUDIST_CACHE, or the platform's.

    Variables, and ``sys.platform``, may be those of another machine.
    """
    environ = os.environ if environ is None else environ
    named = asked or environ.get("TPUDIST_CACHE")
    if named:
        return os.path.abspath(os.path.expanduser(named))
    home = os.path.expanduser("~")
    system = system or sys.platform
    if system == "win32":
        base = environ.get("LOCALAPPDATA") or os.path.join(home, "AppData", "Local")
    elif system == "darwin":
        base = os.path.join(home, "Library", "Caches")
    else:
        base = environ.get("XDG_CACHE_HOME") or os.path.join(home, ".cache")
    return os.path.join(base, "tpudist")


def is_installed(path: str) -> bool:
    """Whether a path goes through a folder of installed packages."""
    return not set(INSTALLED).isdisjoint(path.split(os.sep))


def line_of_the_program(depth: int | None = None, thread: int | None = None) -> str:
    """``FILE:LINE`` of the innermost call in the program; "" if it is not among `depth` calls.

    Those of the function that asks, and of its caller, do not count. The calls may be of another
    `thread`.
    """
    frame: types.FrameType | None
    frame = sys._getframe(2) if thread is None else sys._current_frames()[thread]
    while frame is not None and depth != 0:
        file = frame.f_code.co_filename
        if not (file.startswith(_OTHERS) or _GENERATED.match(file)):
            return "%s:%d" % (os.path.relpath(file), frame.f_lineno)
        frame, depth = frame.f_back, depth and depth - 1
    return ""


def has_legacy_keras(minor: str) -> bool:
    """Whether ``tf_keras`` of a TensorFlow's minor release, such as "2.21", is installed."""
    return _minor(legacy_keras()) == minor


def legacy_keras() -> str | None:
    """The release of the installed package ``tf_keras``, None if there is none."""
    return _release_of("tf_keras")


def legacy_keras_fits() -> bool:
    """Whether ``tf_keras`` is of an installed TensorFlow's minor release; imports neither.

    It is not asked for beside Keras 2, which is ``tf.keras`` until 2.15: programs would get both.
    """
    own = _minor(legacy_keras())
    fits = own is not None and own in {_minor(_release_of(name)) for name in TENSORFLOWS}
    return fits and not (_release_of("keras") or "").startswith("2.")


def legacy_keras_line(minor: str) -> str:
    """The command that installs ``tf_keras`` beside TensorFlow of a minor release.

    The package asks for the wheel ``tensorflow``, which would overwrite another one's files.
    """
    return 'pip install --no-deps "tf-keras==%s.*"' % minor


@functools.lru_cache(maxsize=None)
def _release_of(distribution: str) -> str | None:
    try:
        from importlib import metadata
    except ImportError:  # Python 3.7, for which there is no tf_keras
        return None
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def _minor(release: str | None) -> str | None:
    return release and ".".join(release.split(".")[:2])
