"""Environments: one per release and project, made by uv, kept while their recipe holds.

https://docs.astral.sh/uv/pip/environments/
"""

from __future__ import annotations

import glob
import json
import os
import shutil
import subprocess
import sys
import typing
from typing import TYPE_CHECKING

from tpudist import files
from tpudist.errors import MatrixError
from tpudist.tools.matrix import indexes
from tpudist.tools.matrix.cache import MARKER

if TYPE_CHECKING:
    from typing import Callable, Mapping

    from tpudist.tools.matrix.recipe import Recipe


_PROBE = """
import json, platform, tensorflow as tf
print(json.dumps([tf.__version__, platform.python_version()]))
"""


class Environment(typing.NamedTuple):
    """A ready environment: its folder, and the versions it reported."""

    folder: str
    tensorflow: str
    python: str

    @property
    def scripts(self) -> str:
        """The folder of its interpreter and commands."""
        return scripts(self.folder)


def scripts(folder: str) -> str:
    """Where an environment has its commands."""
    return os.path.join(folder, "Scripts" if os.name == "nt" else "bin")


def prepare(
    recipe: Recipe, folder: str, fresh: bool = False, say: Callable[[str], object] = print
) -> Environment:
    """The environment of a recipe; made if there is none, or an outdated one.

    Args:
      recipe: a ``recipe.Recipe``.
      folder: where it is kept.
      fresh: makes it anew in any case.
      say: called with a line when something takes time.

    Returns:
      An `Environment`, which has imported its TensorFlow once.

    Raises:
      MatrixError: it could not be set up.
    """
    with files.locked(folder + ".lock"):
        environment = None if fresh else ready(recipe, folder)
        if environment is None:
            say("   setting up Python %s, %s" % (recipe.row.python, recipe.row.requirement))
            environment = make(recipe, folder)
        os.utime(os.path.join(folder, MARKER))  # cache.prune removes what is not used
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
    uv = find_uv()
    release = recipe.row.release
    environ = indexes.given_to_uv(recipe.folder)
    _call(
        release,
        [uv, "venv", "--quiet", "--no-project", "--python", interpreter(recipe.row.python), folder],
        environ,
    )
    lists = {"excludes": recipe.excludes, "overrides": [recipe.row.requirement]}
    install = [uv, "pip", "install", "--quiet", "--python", _python(folder)]
    for name, lines in lists.items():
        path = os.path.join(folder, name + ".txt")
        files.write(path, "\n".join(lines) + "\n")
        install += ["--" + name, path]
    _call(release, install + recipe.requirements, environ)
    tensorflow, python = _probe(recipe, folder)
    files.write(
        os.path.join(folder, MARKER),
        json.dumps(
            {
                "key": recipe.key,
                "tensorflow": tensorflow,
                "python": python,
                "project": recipe.folder,
            }
        )
        + "\n",
    )
    return Environment(folder, tensorflow, python)


def _probe(recipe: Recipe, folder: str) -> tuple[str, str]:
    """(TensorFlow, Python) as the environment reports them.

    Raises:
      MatrixError: TensorFlow does not import, or is another release.
    """
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
    return os.path.join(scripts(folder), "python.exe" if os.name == "nt" else "python")


def _call(release: str, command: list[str], env: Mapping[str, str] | None = None) -> str:
    """What a command printed.

    Raises:
      MatrixError: it failed; with the last lines it printed.
    """
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, env=env
    )
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
    """The path of uv.

    Raises:
      MatrixError: it is not installed.
    """
    try:
        import uv

        return os.fspath(uv.find_uv_bin())
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
    """What uv is told to use as CPython `version`.

    Returns:
      A path from pyenv, whose own ``pythonX.Y`` commands work for selected
      versions only; else the version: uv looks for it on PATH, and downloads
      it if it is 3.8 or newer.
    """
    if not shutil.which("pyenv"):
        return version
    root = subprocess.check_output(["pyenv", "root"], universal_newlines=True).strip()
    pythons = glob.glob(
        os.path.join(glob.escape(root), "versions", version + ".*", "bin", "python")
    )
    return max(pythons, key=_patch) if pythons else version


def _patch(path: str) -> int:
    last = path.split(os.sep)[-3].rpartition(".")[2]
    return int(last) if last.isdigit() else -1
