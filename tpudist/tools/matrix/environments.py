"""Makes an environment per release and project with uv; it is kept while its recipe holds.

A `Recipe` is what goes into it. An environment is made anew whenever its recipe changes:
with uv's cache of wheels that takes seconds, and there is no half-updated state.

https://docs.astral.sh/uv/pip/environments/
"""

from __future__ import annotations

import glob
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from typing import Any, Mapping, NamedTuple, Sequence

import tpudist
from tpudist import files, machine
from tpudist.errors import MatrixError
from tpudist.toolbox.table import Row
from tpudist.tools.matrix import indexes

#: Stands in each environment; written last, so one whose set-up was interrupted has none.
MARKER = "tpudist-matrix.json"

#: The files of a project that decide what its installation needs or declares.
METADATA = ("pyproject.toml", "setup.cfg", "setup.py", "requirements*.txt", "uv.toml")

#: The names under which projects ask for TensorFlow: all but the release's own
#: are left out.
TENSORFLOWS = tuple(name for name in machine.TENSORFLOWS if name not in machine.PARTS_OF_TENSORFLOW)


def of_project(root: str, project: str) -> str:
    """The folder below `root` of one project's environments; two projects share none."""
    name = re.sub(r"[^\w.-]+", "-", os.path.basename(project)) or "project"
    digest = hashlib.sha256(os.path.normcase(project).encode()).hexdigest()
    return os.path.join(root, "matrix", "%s-%s" % (name, digest[:8]))


class Recipe:
    """The ingredients of one environment.

    `project` is a folder, with extras if wanted (``".[test]"``), installed editable; `extra` are
    further requirements, `tool` what installs tpudist, as :func:`own_tpudist` returns it, or None.
    """

    def __init__(
        self, row: Row, project: str = ".", extra: Sequence[str] = (), tool: list[str] | None = None
    ) -> None:
        self.row, self.extra, self.tool = row, list(extra), tool
        self.folder, self.extras = split_project(project)

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
        folders = [self.folder] + (self.tool or [])[1:]
        parts: list[Any] = [self.row.python, self.requirements, sys.platform]
        for folder in folders:
            contents = {}
            for pattern in METADATA:
                for path in sorted(glob.glob(os.path.join(glob.escape(folder), pattern))):
                    with open(path, "rb") as file:
                        digest = hashlib.sha256(file.read()).hexdigest()
                    contents[os.path.basename(path)] = digest
            parts.append(contents)
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def split_project(project: str) -> tuple[str, str]:
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


def own_tpudist() -> list[str]:
    """The requirement that installs the running tpudist: its checkout, its URL, or its release."""
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


_PROBE = """
import json, platform, tensorflow as tf
print(json.dumps([tf.__version__, platform.python_version()]))
"""


class Environment(NamedTuple):
    """A ready environment: its folder, and the versions it reported."""

    folder: str
    tensorflow: str
    python: str

    @property
    def scripts(self) -> str:
        """The folder of its interpreter and commands."""
        return os.path.dirname(_python(self.folder))


def prepare(recipe: Recipe, folder: str, fresh: bool = False) -> Environment:
    """The environment of a recipe, which has imported its TensorFlow; made if need be, or `fresh`.

    Raises:
      MatrixError: it could not be set up.
    """
    with files.locked(folder + ".lock"):
        environment = None if fresh else ready(recipe, folder)
        if environment is None:
            print("   setting up Python %s, %s" % (recipe.row.python, recipe.row.requirement))
            sys.stdout.flush()
            environment = make(recipe, folder)
        return environment


def ready(recipe: Recipe, folder: str) -> Environment | None:
    """The finished environment in a folder, or None if there is none of this recipe."""
    try:
        with open(os.path.join(folder, MARKER), encoding="utf-8") as file:
            kept = json.load(file)
    except (OSError, ValueError):
        return None
    if kept["key"] != recipe.key or not os.path.exists(_python(folder)):
        return None
    return Environment(folder, kept["tensorflow"], kept["python"])


def make(recipe: Recipe, folder: str) -> Environment:
    """Makes the environment of a recipe from nothing; see :func:`prepare`."""
    shutil.rmtree(folder, ignore_errors=True)
    uv, release = find_uv(), recipe.row.release
    environ = indexes.given_to_uv(recipe.folder)
    venv = [uv, "venv", "--quiet", "--no-project", "--python", interpreter(recipe.row.python)]
    _call(release, [*venv, folder], environ)
    lists = {"excludes": recipe.excludes, "overrides": [recipe.row.requirement]}
    install = [uv, "pip", "install", "--quiet", "--python", _python(folder)]
    for name, lines in lists.items():
        path = os.path.join(folder, name + ".txt")
        files.write(path, "\n".join(lines) + "\n")
        install += ["--" + name, path]
    _call(release, install + recipe.requirements, environ)
    tensorflow, python = _probe(recipe, folder)
    kept = {"key": recipe.key, "tensorflow": tensorflow, "python": python}
    files.write(os.path.join(folder, MARKER), json.dumps(kept) + "\n")
    return Environment(folder, tensorflow, python)


def _probe(recipe: Recipe, folder: str) -> tuple[str, str]:
    """(TensorFlow, Python) as the environment reports them; a MatrixError if these are others."""
    release = recipe.row.release
    environ = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3")
    environ.update(recipe.row.environment)
    out = _call(release, [_python(folder), "-c", _PROBE], environ)
    tensorflow, python = json.loads(out.strip().splitlines()[-1])
    if ".".join(tensorflow.split(".")[:2]) != recipe.row.minor:
        raise MatrixError(
            "release %s: the environment has TensorFlow %s" % (release, tensorflow),
            "a test on it would tell of another release",
            "requirements of your project that allow TensorFlow %s" % release,
        )
    return tensorflow, python


def _python(folder: str) -> str:
    parts = ("Scripts", "python.exe") if os.name == "nt" else ("bin", "python")
    return os.path.join(folder, *parts)


def _call(release: str, command: list[str], env: Mapping[str, str] | None = None) -> str:
    """Returns a command's output; raises a MatrixError with its last lines if it failed."""
    done = subprocess.run(command, capture_output=True, text=True, env=env)
    if done.returncode == 0:
        return done.stdout
    said = (done.stderr or done.stdout).strip().splitlines() or ["no message"]
    doing = " ".join([os.path.basename(command[0])] + command[1:3])
    raise MatrixError(
        "release %s: %s ... failed with exit code %d\n%s"
        % (release, doing, done.returncode, "\n".join("   " + line for line in said[-15:])),
        "nothing can be run on a release whose environment is not there",
        "the same command after the cause above is gone; --releases without %s "
        "leaves it out" % release,
    )


def find_uv() -> str:
    """The path of uv; a MatrixError if it is not installed."""
    try:
        import uv

        return str(uv.find_uv_bin())
    except (ImportError, FileNotFoundError):
        path = shutil.which("uv")
    if path:
        return path
    raise MatrixError(
        "no uv beside %s, and none on PATH" % sys.executable,
        "uv makes the environments and finds their Pythons",
        'pip install "tpudist[matrix]"',
    )


def interpreter(version: str) -> str:
    """The name by which uv finds a CPython: the path of pyenv's, else its version."""
    if not shutil.which("pyenv"):
        return version
    root = subprocess.check_output(["pyenv", "root"], universal_newlines=True).strip()
    pattern = os.path.join(glob.escape(root), "versions", version + ".*", "bin", "python")
    patches = {path.split(os.sep)[-3].rpartition(".")[2]: path for path in glob.glob(pattern)}
    numbers = [int(each) for each in patches if each.isdigit()]
    return patches[str(max(numbers))] if numbers else version
