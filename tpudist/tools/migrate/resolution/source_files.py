"""Finds the files below some paths, but for those of what is built or installed."""

from __future__ import annotations

import fnmatch
import os
from typing import Iterable, Sequence

from tpudist import machine

#: Folders of what is built: the summary lists them.
_BUILT = ("build", "dist")
#: Folders of what is built or installed.
_PASSED_OVER = frozenset(_BUILT + ("__pycache__", "node_modules") + machine.INSTALLED)


def find(paths: Iterable[str], exclude: Sequence[str] = ()) -> tuple[list[str], list[str]]:
    """The files below some paths.

    Args:
      paths: files and folders; what is named itself is taken whatever its name.
      exclude: patterns of paths, such as "third_party/*" or "*_pb2.py", and names
        of folders.

    Returns:
      (the sorted paths of ``.py`` and ``.ipynb`` files, those of what a user may miss:
      folders called build or dist, scripts of Python without ``.py``).
    """
    found: list[str] = []
    passed: list[str] = []
    for path in paths:
        if not os.path.isdir(path):
            found.append(path)
            continue
        for base, folders, names in os.walk(path):
            passed += [os.path.join(base, name) + os.sep for name in folders if name in _BUILT]
            folders[:] = sorted(
                name
                for name in folders
                if _is_read(base, name) and not _matches(base, name, exclude)
            )
            wanted = [name for name in names if not _matches(base, name, exclude)]
            found += [
                os.path.join(base, name) for name in wanted if name.endswith((".py", ".ipynb"))
            ]
            passed += [
                os.path.join(base, name)
                for name in wanted
                if "." not in name and is_script(os.path.join(base, name))
            ]
    return sorted(set(map(os.path.normpath, found))), sorted(set(passed))


def _is_read(base: str, name: str) -> bool:
    """Whether a folder is one of sources, no hidden one and no virtual environment."""
    return not (
        name in _PASSED_OVER
        or name.startswith(".")
        or os.path.exists(os.path.join(base, name, "pyvenv.cfg"))
    )


def _matches(base: str, name: str, patterns: Sequence[str]) -> bool:
    path = os.path.normpath(os.path.join(base, name)).replace(os.sep, "/")
    return any(
        name == pattern.rstrip("/")
        or fnmatch.fnmatch(path, pattern)
        or fnmatch.fnmatch(path, "*/" + pattern.rstrip("/"))
        for pattern in patterns
    )


def is_script(path: str) -> bool:
    """Whether a file begins as a script of Python does."""
    try:
        with open(path, "rb") as file:
            first = file.readline(200)
    except OSError:
        return False
    return first.startswith(b"#!") and b"python" in first
