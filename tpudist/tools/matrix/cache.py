"""Manages the folders in which environments are kept."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import time

#: Stands in each environment; written last, so one whose set-up was interrupted has none.
MARKER = "tpudist-matrix.json"

#: An environment that no run has used for this many days is removed.
KEPT_UNUSED = 30


def of_project(root: str, project: str) -> str:
    """The folder below `root` of one project's environments; two projects share none."""
    name = re.sub(r"[^\w.-]+", "-", os.path.basename(project)) or "project"
    digest = hashlib.sha256(os.path.normcase(project).encode()).hexdigest()
    return os.path.join(root, "matrix", "%s-%s" % (name, digest[:8]))


def prune(root: str, now: float | None = None) -> list[str]:
    """Removes environments whose project is gone, and those that nobody has used for long.

    Returns the folders that were removed.
    """
    now = time.time() if now is None else now
    matrix = os.path.join(root, "matrix")
    gone = []
    for project in _folders(matrix):
        environments = _folders(project)
        old = [each for each in environments if _is_old(each, now)]
        for each in [project] if old == environments and old else old:
            shutil.rmtree(each, ignore_errors=True)
        gone += old
    return gone


def _folders(path: str) -> list[str]:
    names = sorted(os.listdir(path)) if os.path.isdir(path) else []
    return [each for each in (os.path.join(path, name) for name in names) if os.path.isdir(each)]


def _is_old(environment: str, now: float) -> bool:
    marker = os.path.join(environment, MARKER)
    used = os.path.getmtime(marker if os.path.exists(marker) else environment)
    return now - used > KEPT_UNUSED * 86400 or not os.path.isdir(_project_of(marker))


def _project_of(marker: str) -> str:
    """The folder of the project that an environment was made for; its own if unknown."""
    try:
        with open(marker, encoding="utf-8") as file:
            return str(json.load(file)["project"])
    except (OSError, ValueError, KeyError):
        return os.path.dirname(marker)
