"""Runs tests on the TensorFlow releases of ``releases.cfg``, one cell each.

    python compat/cells.py --cells 1.15,2.2,2.15 [--keep DIR] -- PYTEST-ARGS
    python compat/cells.py --cells 1.15 --random 2 [--seed 7] -- PYTEST-ARGS

A cell is a fresh virtual environment with that release and its Python, in
which tpudist is installed from this checkout. Each cell asserts the version
that it runs. A cell that cannot be set up is a failure, never a skip. Cells
drawn at random print the seed that draws them again. With ``--jobs`` the
output of a cell is shown when it is done.
"""

import argparse
import atexit
import concurrent.futures
import functools
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tpudist.matrix import table  # noqa: E402

_SHOWING = threading.Lock()
_BUILDING = threading.Lock()


class CellError(Exception):
    """A cell could not be set up."""


def main(argv=None):
    """Runs the cells; returns 0 if all of them passed."""
    options = parse(sys.argv[1:] if argv is None else argv)
    releases = table.read()
    wanted = choose(options, releases)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(lambda name: tried(name, releases.get(name), options), wanted))
    for name, result in zip(wanted, results):
        print("cell TensorFlow %s: %s" % (name, result), flush=True)
    return 0 if all(r.startswith("passed") for r in results) else 1


def parse(argv):
    """The options; everything after ``--`` goes to pytest."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cells", help="comma-separated; all by default")
    parser.add_argument(
        "--random", type=int, metavar="N", help="draw N more cells of those that are not in --cells"
    )
    parser.add_argument("--seed", type=int, help="draws the same cells again")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="cells that run at once")
    parser.add_argument("--keep", help="keep the environments in this folder")
    parser.add_argument(
        "--results", metavar="DIR", help="write a JUnit file per cell, for matrix.py"
    )
    parser.add_argument("tests", nargs="*", default=["tests"])
    return parser.parse_args(argv)


def choose(options, names):
    """The cells that are asked for, out of `names` or as they are named."""
    named = options.cells.split(",") if options.cells else []
    if options.random is None:
        return named or list(names)
    seed = options.seed
    if seed is None:
        seed = random.SystemRandom().randrange(10**6)
    rest = [name for name in names if name not in named]
    drawn = random.Random(seed).sample(rest, min(options.random, len(rest)))
    print("== cells drawn with --seed %d: %s" % (seed, ", ".join(drawn)), flush=True)
    return named + drawn


def tried(name, row, options):
    """How one cell went, whatever happens to it."""
    if row is None:
        return "missing: no such section in releases.cfg"
    start = time.time()
    try:
        with tempfile.TemporaryFile() as output:
            shown = output if options.jobs > 1 else None
            try:
                result = run(name, row, options, shown)
            finally:
                show(output)
    except (CellError, subprocess.CalledProcessError) as error:
        result = "not set up: %s" % error
    return "%s (%d s)" % (result, time.time() - start)


def show(output):
    """Prints what a cell that ran beside others has written to a file."""
    output.seek(0)
    with _SHOWING:
        print(output.read().decode("utf-8", "replace"), end="", flush=True)


def release(name):
    """The release that the cell `name` must run: "2.16" of "2.16-tf-keras"."""
    return name.split("-")[0]


def run(name, row, options, output):
    """Sets up one cell and runs the tests in it; returns how it went.

    Args:
      name: a section of the table, such as "2.16-tf-keras".
      row: its ``table.Row``.
      options: the parsed options.
      output: the file that gets all output; None for that of this process.

    Raises:
      CellError: there is no such Python.
      CalledProcessError: pip, or TensorFlow's import, failed.
    """
    folder = pathlib.Path(options.keep or tempfile.mkdtemp(prefix="tpudist-"))
    streams = {"stdout": output, "stderr": subprocess.STDOUT if output else None}
    try:
        python = environment(row, folder / name, streams)
        environ = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3", **row.environment)
        head = "== cell TensorFlow %s: %s" % (name, describe(python, environ))
        subprocess.check_call(["echo", head], **streams)
        code = subprocess.call(
            [python, "-m", "pytest"] + junit(name, options) + options.tests,
            cwd=str(ROOT),
            **streams,
            env=dict(environ, TPUDIST_EXPECT_TF=release(name)),
        )
        return "passed" if code == 0 else "failed: pytest exit %d" % code
    finally:
        if not options.keep:
            shutil.rmtree(str(folder), ignore_errors=True)


def junit(name, options):
    """The arguments that make pytest write the results of a cell."""
    if not options.results:
        return []
    folder = pathlib.Path(options.results).resolve()
    return ["--junitxml=%s" % (folder / (name + ".xml"))]


def environment(row, folder, streams):
    """The Python of a virtual environment with that release."""
    python = str(folder / "bin" / "python")
    if not os.path.exists(python):
        try:
            make(python, row, folder, streams)
        except BaseException:
            shutil.rmtree(str(folder), ignore_errors=True)
            raise
    return python


def make(python, row, folder, streams):
    """Makes a virtual environment with a release and tpudist.

    All is resolved together: installed one after the other, a requirement of
    the tests replaces what TensorFlow asked for (2.5 then got numpy 2).
    """
    subprocess.check_call([interpreter(row.python), "-m", "venv", str(folder)], **streams)
    pip = [python, "-m", "pip", "install", "--quiet"]
    subprocess.check_call(pip + ["--upgrade", "pip", "setuptools", "wheel"], **streams)
    with _BUILDING:
        tpudist = wheel()
    subprocess.check_call(
        pip + [row.requirement] + list(row.constraints) + [tpudist + "[test]"], **streams
    )


@functools.lru_cache(maxsize=None)
def wheel():
    """The path of a wheel of this checkout: pip builds in the checkout itself."""
    folder = tempfile.mkdtemp(prefix="tpudist-wheel-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    subprocess.check_call(
        [
            sys.executable,
            "-m",
            "pip",
            "wheel",
            "--quiet",
            "--no-deps",
            "--wheel-dir",
            folder,
            str(ROOT),
        ]
    )
    (found,) = pathlib.Path(folder).glob("*.whl")
    return str(found)


def interpreter(version):
    """The path of CPython `version`, from pyenv or from PATH.

    Raises:
      CellError: it is not installed.
    """
    if shutil.which("pyenv"):
        root = subprocess.check_output(["pyenv", "root"]).decode().strip()
        found = sorted(pathlib.Path(root, "versions").glob(version + ".*"))
        if found:
            return str(found[-1] / "bin" / "python")
    found = shutil.which("python" + version)
    if not found:
        raise CellError("there is no Python %s, neither in pyenv nor on PATH" % version)
    return found


def describe(python, environ):
    """``TensorFlow x.y.z on Python a.b.c``, as the environment says itself."""
    code = (
        "import platform, tensorflow as tf; print('TensorFlow %s on "
        "Python %s' % (tf.__version__, platform.python_version()))"
    )
    return (
        subprocess.check_output([python, "-c", code], env=environ, stderr=subprocess.DEVNULL)
        .decode()
        .strip()
    )


if __name__ == "__main__":
    sys.exit(main())
