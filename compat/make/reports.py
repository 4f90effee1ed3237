"""What public bug reports of TPUs end in: a small program of each situation, run here.

    python -m compat.make.reports [NAME ...]

The programs are in ``tests/reports/``. The docstring of each says the situation, and in a line
each the ``release`` of TensorFlow that it was reported for, the ``link`` of the report, and what
must come out: what it ``prints``, or for an error in three parts what is said there (``fails``).
All, or those named, are run by ``tpudist run --tpu virtual:8`` on the installed TensorFlow, and
their rows of ``compat/REPORTS.md`` are written.
"""

import ast
import os
import re
import subprocess
import sys
from collections import namedtuple

from tpudist import files

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDER = os.path.join(ROOT, "tests", "reports")
PAGE = os.path.join(ROOT, "compat", "REPORTS.md")

HEAD = """# Public bug reports

A small program of each report's situation was run by `python -m compat.make.reports`, on TensorFlow
{release} and a virtual TPU of eight cores. The programs are our own, and so are their words; the
links lead to the reports. A number is compared in the program with numpy or with plain TensorFlow
on the global batch. What is refused says what was seen, why it cannot work, and what to type
instead.

| situation | release | answer | report |
|---|---|---|---|
"""

Report = namedtuple("Report", "situation release link prints fails")

#: What an error in three parts begins with: the class that Python names, or who tells it.
_BEFORE = re.compile(r"^\s*(?:[\w.]+Error: |tpudist run: |keras: )")


def names():
    """The names of all reports."""
    every = [os.path.splitext(name) for name in sorted(os.listdir(FOLDER))]
    return [name for name, end in every if end == ".py" and not name.startswith(("_", "test_"))]


def path_of(name):
    """The path of a report's program."""
    return os.path.join(FOLDER, name + ".py")


def read(name):
    """The `Report` that the docstring of a program tells; what it does not tell is None."""
    with open(path_of(name), encoding="utf-8") as file:
        text = ast.get_docstring(ast.parse(file.read()))
    told = dict(re.findall(r"^(release|link|prints|fails): (.+)$", text, re.M))
    return Report(text.partition("\n")[0], *[told.get(field) for field in Report._fields[1:]])


def run(name):
    """(what a report's program printed, its error or None, all that was said)."""
    ended = subprocess.run(
        [sys.executable, "-m", "tpudist", "run", "--tpu", "virtual:8", path_of(name)],
        cwd=ROOT,
        env=dict(os.environ, PYTHONPATH=ROOT, TF_CPP_MIN_LOG_LEVEL="3"),
        capture_output=True,
        text=True,
    )
    lines = ended.stderr.splitlines() or [""]
    in_three_parts = [line for line in lines if " Instead: " in line]
    error = _BEFORE.sub("", (in_three_parts or lines)[-1]) if ended.returncode else None
    return ended.stdout.strip(), error, ended.stdout + ended.stderr


def is_right(report, printed, error):
    """Whether a program ended as its docstring says."""
    if report.fails:
        return error is not None and report.fails in error
    return error is None and printed == report.prints


def row(name, printed, error):
    """A report's row of the page."""
    report = read(name)
    answer = ("refused: " + error if error else printed).replace("|", "\\|")
    where = report.link.partition("github.com/")[2].replace("/issues/", "#")
    situation = "[%s](../tests/reports/%s.py)" % (report.situation, name)
    cells = [situation, report.release, answer, "[%s](%s)" % (where, report.link)]
    return "| " + " | ".join(cells) + " |\n"


def rows():
    """{name of a report: its row} of the page as it is."""
    with open(PAGE, encoding="utf-8") as file:
        found = re.findall(r"^(\| \[.*\]\(\.\./tests/reports/(\w+)\.py\).*\n)", file.read(), re.M)
    return {name: row for row, name in found}


def main():
    """Runs reports and writes the page; 1 if one ended otherwise than its docstring says."""
    import tensorflow as tf

    found, wrong = rows() if os.path.exists(PAGE) else {}, []
    for name in sys.argv[1:] or names():
        printed, error, said = run(name)
        print(name, flush=True)
        if not is_right(read(name), printed, error):
            wrong.append(name)
            print(said)
        found[name] = row(name, printed, error)
    shown = [found[name] for name in names() if name in found]
    files.write(PAGE, HEAD.format(release=tf.__version__) + "".join(shown))
    print("not as they say: %s" % (", ".join(wrong) or "none"))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
