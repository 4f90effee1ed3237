"""Which era `tpudist run` reads in public programs, beside the one that they are of.

    python -m compat.make.eras [--only NAME] [--mirrors FOLDER] [--work FOLDER]

``compat/make/eras.txt`` names scripts of public code bases and what each was written for, read by
hand: several eras where the script runs alike in all of them. Each code base is fetched (``git
clone`` from GitHub, or ``FOLDER/owner+name/repo``; ``pip download`` of what is a package) and each
script read, nothing is run. Prints the scripts whose era is another one, and exits with 1 if there
is any."""

import argparse
import os
import subprocess
import sys
import tempfile
import zipfile
from collections import namedtuple

from compat.make import programs
from tpudist import surfaces
from tpudist.surfaces.eras import program

TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "eras.txt")

#: A code base: where it is from, its revision's day or its version, the folders that its programs
#: have on PYTHONPATH, and {script: the eras that are right, a list}.
CodeBase = namedtuple("CodeBase", "name revision paths scripts")


def read(path=TABLE):
    """The table: a list of CodeBase."""
    found = []
    with open(path, encoding="utf-8") as file:
        lines = [line.split() for line in file if line.strip() and not line.startswith("#")]
    for words in lines:
        if words[0].startswith("["):
            name, revision, *paths = " ".join(words).strip("[]").split()
            found.append(CodeBase(name, revision, paths or ["."], {}))
        else:
            found[-1].scripts[words[1]] = words[0].split("|")
    return found


def fetch(code_base, mirrors, work):
    """The folder with the files of a code base."""
    if "/" in code_base.name:
        return programs.fetch(code_base.name, code_base.revision, mirrors, work)[0]
    folder = os.path.join(work, "%s-%s" % code_base[:2])
    if not os.path.isdir(folder):
        package = "%s==%s" % code_base[:2]
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", work, package]
        subprocess.run(command, check=True)
        start = "%s-%s-" % (code_base.name.replace("-", "_"), code_base.revision)
        wheel = next(each for each in os.listdir(work) if each.startswith(start))
        with zipfile.ZipFile(os.path.join(work, wheel)) as archive:
            archive.extractall(folder)
    return folder


def wrong(code_base, folder):
    """A line of each script of a code base that is read as of an era that it is not of."""
    lines = []
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(
        os.path.join(folder, each) for each in code_base.paths
    )
    try:
        for script, eras in code_base.scripts.items():
            decision = program.read(os.path.join(folder, script)).decision
            if surfaces.spelled(decision.era) not in eras:
                said = program.describe(decision)
                lines.append(
                    "%s %s is of %s: %s" % (code_base.name, script, " or ".join(eras), said)
                )
    finally:
        os.environ.pop("PYTHONPATH")
        if before is not None:
            os.environ["PYTHONPATH"] = before
    return lines


def main(argv=None):
    """Returns 0 if every era is right."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="code bases with this in their name")
    mirrors = os.environ.get("TPUDIST_TEST_MIRRORS")
    said = "a folder with copies of the repositories; by default $TPUDIST_TEST_MIRRORS, or none"
    parser.add_argument("--mirrors", default=mirrors, help=said)
    parser.add_argument("--work", help="a folder for what is fetched")
    args = parser.parse_args(argv)
    chosen = [each for each in read() if args.only in each.name]
    found = []
    with tempfile.TemporaryDirectory() as temporary:
        for each in chosen:
            lines = wrong(each, fetch(each, args.mirrors, args.work or temporary))
            print(
                "\n".join(["%s %s: %d scripts" % (*each[:2], len(each.scripts)), *lines]),
                flush=True,
            )
            found += lines
    print("%d scripts, %d of a wrong era" % (sum(len(each.scripts) for each in chosen), len(found)))
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
