"""What goes into an environment, and the hash that tells when that changed.

An environment is made anew whenever its recipe changes: with uv's cache of
wheels that takes seconds, and there is no half-updated state.
"""

from __future__ import annotations

import glob
import hashlib
import json
import os
import re
import sys
from typing import TYPE_CHECKING

import tpudist
from tpudist import machine
from tpudist.errors import MatrixError

if TYPE_CHECKING:
    from typing import Any, Sequence

    from tpudist.tools.matrix.table import Row


#: The files of a project that decide what its installation needs or declares.
METADATA = ("pyproject.toml", "setup.cfg", "setup.py", "requirements*.txt", "uv.toml")

#: The names under which projects ask for TensorFlow: all but the release's own
#: are left out.
TENSORFLOWS = tuple(name for name in machine.TENSORFLOWS if name not in machine.PARTS_OF_TENSORFLOW)


class Recipe:
    """What one environment is made of.

    Args:
      row: the release's ``table.Row``.
      project: a project's folder, with extras if wanted (``".[test]"``); it is
        installed editable, so that changes of its code need no new install.
      extra: further requirements, a list of str.
      tool: what installs tpudist, as :func:`own` returns it; None to leave it out.
    """

    def __init__(
        self, row: Row, project: str = ".", extra: Sequence[str] = (), tool: list[str] | None = None
    ) -> None:
        self.row = row
        self.folder, self.extras = split(project)
        self.extra = list(extra)
        self.tool = tool

    @property
    def requirements(self) -> list[str]:
        """The arguments of ``uv pip install``, all resolved together."""
        requirements = [self.row.requirement] + list(self.row.constraints) + self.extra
        if is_installable(self.folder):
            requirements += ["--editable", self.folder + self.extras]
        tool = self.tool or []
        return requirements + ([] if tool[1:] == [self.folder] else tool)

    @property
    def excludes(self) -> list[str]:
        """The wheels of TensorFlow that are left out; see `TENSORFLOWS`."""
        own = re.match(r"[\w.-]+", self.row.requirement)
        return [name for name in TENSORFLOWS if own is None or name != own.group()]

    @property
    def key(self) -> str:
        """A hash of all that the environment depends on, the project's metadata included."""
        parts: list[Any] = [self.row.python, self.requirements, sys.platform]
        folders = [self.folder] + (self.tool or [])[1:]
        parts += [_contents(folder) for folder in folders]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _contents(folder: str) -> dict[str, str]:
    files = [
        path
        for pattern in METADATA
        for path in sorted(glob.glob(os.path.join(glob.escape(folder), pattern)))
    ]
    return {os.path.basename(path): _digest(path) for path in files}


def _digest(path: str) -> str:
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def split(project: str) -> tuple[str, str]:
    """(absolute folder, extras) of ``"path[extra,...]"``.

    Raises:
      MatrixError: there is no such folder.
    """
    folder, bracket, extras = project.partition("[")
    if not os.path.isdir(folder or "."):
        raise MatrixError(
            "--project %s" % project,
            "there is no folder %r" % folder,
            'the folder that has the setup.py or pyproject.toml, such as ".[test]"',
        )
    return os.path.abspath(folder or "."), bracket + extras


def is_installable(folder: str) -> bool:
    """Whether pip could install a folder; a folder of scripts is used as it is."""
    if os.path.exists(os.path.join(folder, "setup.py")):
        return True
    try:
        with open(os.path.join(folder, "pyproject.toml"), encoding="utf-8") as file:
            return bool(re.search(r"^\[(project|build-system)\]", file.read(), re.M))
    except OSError:
        return False


def own() -> list[str]:
    """What installs the tpudist that is running: its checkout, its URL, or its release."""
    package = os.path.dirname(os.path.abspath(tpudist.__file__))
    root = os.path.dirname(package)
    if os.path.exists(os.path.join(root, "setup.py")):
        return ["--editable", root]
    return [_direct_url() or "tpudist==" + tpudist.__version__]


def _direct_url() -> str | None:
    """``tpudist @ URL`` if that is what it was installed from, else None."""
    try:
        from importlib import metadata

        text = metadata.distribution("tpudist").read_text("direct_url.json")
    except ImportError:  # Python 3.7, or no metadata
        return None
    if not text:
        return None
    origin = json.loads(text)
    vcs = origin.get("vcs_info")
    url = "%s+%s@%s" % (vcs["vcs"], origin["url"], vcs["commit_id"]) if vcs else origin["url"]
    return "tpudist @ " + url
