"""Runs mypy and pyright over the files of ``uses``, as a user's project with tpudist in it.

    python -m tests.types.checkers

writes down what they say today, to be read before it is committed.
"""

import collections
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
USES = os.path.join(HERE, "uses")
EXPECTED = os.path.join(HERE, "expected")

#: Of mypy: ``file:line: severity: text``; a note follows what it explains.
_MYPY = re.compile(r"^(.*?):(\d+): (error|note): (.*)$")


def names():
    """The files of uses."""
    return sorted(name for name in os.listdir(USES) if name.endswith(".py"))


def environment():
    """The variables with which mypy finds this checkout's tpudist."""
    return dict(os.environ, MYPYPATH=ROOT)


def mypy(folder):
    """{file: [(line, text), ...]} of what ``mypy --strict`` says of the uses."""
    process = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--cache-dir", folder]
        + ["--follow-imports=silent", "--no-error-summary"]
        + names(),
        cwd=USES,
        env=environment(),
        capture_output=True,
        text=True,
    )
    assert process.returncode == 1 and not process.stderr, process.stdout + process.stderr
    found = collections.defaultdict(list)
    for line in process.stdout.splitlines():
        file, number, severity, text = _MYPY.match(line).groups()
        found[file].append((int(number), "%s: %s" % (severity, text)))
    return {name: found[name] for name in names()}


def pyright(folder):
    """{file: [(line, text), ...]} of what pyright says of the uses, as in an editor."""
    os.symlink(USES, os.path.join(folder, "uses"))
    with open(os.path.join(folder, "pyrightconfig.json"), "w", encoding="utf-8") as file:
        json.dump({"include": ["uses"], "extraPaths": [ROOT], "typeCheckingMode": "strict"}, file)
    process = subprocess.run(
        [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable]
        + ["--project", folder],
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        capture_output=True,
        text=True,
    )
    found = collections.defaultdict(list)
    for each in json.loads(process.stdout)["generalDiagnostics"]:
        rule = "  [%s]" % each["rule"] if "rule" in each else ""
        said = each["message"].replace("\xa0", " ") + rule
        found[os.path.basename(each["file"])].append(
            (each["range"]["start"]["line"] + 1, "%s: %s" % (each["severity"], said))
        )
    return {name: found[name] for name in names()}


CHECKERS = {"mypy": mypy, "pyright": pyright}


def shown(name, diagnostics):
    """What a checker says of a file, each under the line that it is about.

    Args:
      name: the file's name.
      diagnostics: (line, text) pairs.
    """
    with open(os.path.join(USES, name), encoding="utf-8") as file:
        lines = file.read().splitlines()
    parts = []
    for number in sorted({line for line, _ in diagnostics}):
        parts.append(lines[number - 1].strip())
        parts += ["    " + said for line, text in diagnostics if line == number
                  for said in text.splitlines()]  # fmt: skip
    return "\n".join(parts) + "\n"


def expected(checker, name):
    """The file that holds what a checker is to say of a file."""
    return os.path.join(EXPECTED, "%s.%s.txt" % (name[: -len(".py")], checker))


def main():
    """Writes down what all checkers say of all files."""
    for checker, run in CHECKERS.items():
        with tempfile.TemporaryDirectory() as folder:
            for name, diagnostics in run(folder).items():
                with open(expected(checker, name), "w", encoding="utf-8") as file:
                    file.write(shown(name, diagnostics))


if __name__ == "__main__":
    main()
