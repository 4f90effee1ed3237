"""Checks a release: builds it, installs it where it was never seen, and runs what README says.

    python -m tests.release [--python 3.7,3.12] [--keep FOLDER]

needs the extra ``release``. It asks whether the version is the same everywhere and
whether every long proof is newer than what it proves, builds the source
archive and the wheel, has twine look at their metadata, and installs each into a fresh environment
of each Python, with the TensorFlow that the installer chooses there. In it, README's first command
runs the examples of the source archive. A row of each goes into ``compat/RELEASE.md``. The exit
code is 0 if all of it passed.
"""

import argparse
import datetime
import glob
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

import tpudist
from compat.make import readme_command
from tests import ROOT
from tests.nightly import records, staleness
from tpudist import files
from tpudist.tools.matrix import environments

PYTHONS = "3.7,3.9,3.12,3.13"
PAGE = os.path.join(ROOT, "compat", "RELEASE.md")

_HEAD = """# The release check

Written by `python -m tests.release`: each archive of tpudist {version}, installed into a fresh
environment with its extra `tensorflow`, and what the examples of the source archive gave there
(`{command}`). {day}, commit {commit}.

| Python | archive | TensorFlow | result |
|---|---|---|---|
"""


def versions():
    """{where: the version that it says}; a test holds that all are one."""
    said = {"tpudist": tpudist.__version__}
    for path, pattern in (
        ("CHANGELOG.md", r"^## (\S+) - \d"),
        ("CITATION.cff", r"^version: (\S+)$"),
        ("examples/guides/real_tpu.md", r"^tpudist (\S+) doctor$"),
    ):
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            found = re.search(pattern, file.read(), re.M)
        said[path] = found and found.group(1)
    return said


def main(argv=None):
    """Returns 0 if every step passed, 1 if not."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", default=PYTHONS, help="with commas; by default " + PYTHONS)
    parser.add_argument("--keep", metavar="FOLDER", help="copies the archives there")
    args = parser.parse_args(argv)
    pythons = args.python.split(",")
    if len(set(versions().values())) > 1:
        print("versions differ: %s" % versions())
        return 1
    stale = staleness.lines()
    if stale:
        print(
            "Long proofs of compat/NIGHTLY.md that do not hold for this commit:", *stale, sep="\n"
        )
        return 1
    command = readme_command.commands()["main"].rpartition("/bin/python ")[2]
    commit = records.commit(ROOT)
    with tempfile.TemporaryDirectory() as folder:
        archives = build(folder)
        if args.keep:
            keep(archives, args.keep)
        rows = [
            (python, os.path.basename(archive), *tried(python, archive, sources(archives), command))
            for python in pythons
            for archive in archives
        ]
    head = _HEAD.format(
        version=tpudist.__version__,
        command="python " + command,
        day=datetime.date.today().isoformat(),
        commit=commit,
    )
    files.write(PAGE, head + "".join("| %s |\n" % " | ".join(row) for row in rows))
    return int(any(row[-1] != "passed" for row in rows))


def build(folder):
    """The paths of the two archives of this checkout, whose metadata twine accepts."""
    _call([sys.executable, "-m", "build", "--outdir", folder, ROOT])
    archives = sorted(glob.glob(os.path.join(folder, "*")))
    _call([sys.executable, "-m", "twine", "check", "--strict"] + archives)
    return archives


def keep(archives, folder):
    """Copies the archives into a folder, which is made."""
    os.makedirs(folder, exist_ok=True)
    for archive in archives:
        shutil.copy(archive, folder)


def sources(archives):
    """The folder of the unpacked source archive, beside it."""
    archive = next(path for path in archives if path.endswith(".tar.gz"))
    folder = archive[: -len(".tar.gz")]
    if not os.path.isdir(folder):
        with tarfile.open(archive) as packed:
            packed.extractall(os.path.dirname(archive))
    return folder


def tried(python, archive, folder, command):
    """(TensorFlow, "passed" or what failed) of an archive in a fresh environment.

    Args:
      python: a version, such as "3.9".
      archive: its path.
      folder: the unpacked source archive.
      command: what Python runs there, as README says it.
    """
    print("== Python %s, %s" % (python, os.path.basename(archive)), flush=True)
    with tempfile.TemporaryDirectory() as home:
        try:
            return _in_environment(home, python, archive, folder, command), "passed"
        except subprocess.CalledProcessError as error:
            return "", "FAILED (%d): %s" % (error.returncode, " ".join(error.cmd[1:4]))


def _in_environment(home, python, archive, folder, command):
    """The TensorFlow with which a fresh environment passes."""
    uv = environments.find_uv()
    _call([uv, "venv", "--quiet", "--python", environments.interpreter(python), home])
    scripts = environments.scripts(home)
    interpreter = os.path.join(scripts, "python")
    install = [uv, "pip", "install", "--quiet", "--python", interpreter]
    _call(install + [archive + "[tensorflow]"])
    said = _call([os.path.join(scripts, "tpudist"), "--version"], home)
    assert said == "tpudist %s\n" % tpudist.__version__, said
    print(_call([interpreter] + command.split(), folder), flush=True)
    asked = "import tensorflow as tf; print(tf.__version__)"
    return _call([interpreter, "-c", asked], home).strip()


def _call(command, folder=None):
    """What a command printed, run outside of the checkout."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(command, cwd=folder, env=environ, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        print(done.stdout, flush=True)
    done.check_returncode()
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
