"""``compat/NIGHTLY.md``: what each long proof gave when it was last run."""

import collections
import re
import shlex
import subprocess

from tpudist import files

#: A command on a release: what it gave, and when.
Row = collections.namedtuple("Row", "part release command result commit date")

HEAD = """# The long proofs

CI leaves these out. `python -m tests.nightly [PART ...]` runs them and writes this page: a row
for each command and release, with what it gave when it was last run, the commit (with `+` where
files had been changed since) and the day. "newest" is the TensorFlow that it was started with.

| part | TensorFlow | command | result | commit | day |
|---|---|---|---|---|---|
"""

_PASSED = re.compile(r"\d+ (?:failed|passed)\b.*(?= in \d)")
_KILLED = re.compile(r"killed \d+ of \d+")
_AGREE = re.compile(r"(\d+) programs agree")
_ERAS = re.compile(r"\d+ scripts, \d+ of a wrong era")
_FIGURE = re.compile(r"^\| .* \| \d.* \| .* \|$", re.MULTILINE)
_TENSORFLOW = re.compile(r"tpudist on .*|TensorFlow \d[\w.]*")


def result(lines, code):
    """What a command says at its end, in a few words.

    Args:
      lines: all that it printed.
      code: its exit code.
    """
    text = "".join(lines)
    agree = [int(number) for number in _AGREE.findall(text)]
    said = _PASSED.findall(text)[-1:] + _KILLED.findall(text)[-1:]
    said += _ERAS.findall(text)[-1:]
    said += ["%d programs agree" % sum(agree)] if agree else []
    figures = _FIGURE.findall(text)
    above = sum(" (above) " in figure for figure in figures)
    said += ["%d figures, %d above their bounds" % (len(figures), above)] if figures else []
    said += _TENSORFLOW.findall(text)[-1:]
    return "; ".join(([] if code == 0 else ["FAILED (%d)" % code]) + said) or "passed"


def commit(root):
    """The commit of a checkout, and "+" if tracked files other than this page differ from it."""
    asked = ["git", "describe", "--always", "--exclude", "*"]
    done = subprocess.run(asked, cwd=root, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        return "no git"
    differ = ["git", "diff", "--quiet", "HEAD", "--", ".", ":(exclude)compat/NIGHTLY.md"]
    return done.stdout.strip() + "+" * (subprocess.run(differ, cwd=root).returncode == 1)


def read(path):
    """The rows of a page, oldest place first."""
    try:
        with open(path, encoding="utf-8") as file:
            lines = [line for line in file if line.startswith("| ")][1:]
    except FileNotFoundError:
        return []
    return [
        Row(*(cell.strip(" `") for cell in line.strip().strip("|").split(" | "))) for line in lines
    ]


def write(path, row):
    """Puts a row in the place of the one of the same part, release and command."""
    rows = read(path)
    keys = [key(each) for each in rows]
    if key(row) in keys:
        rows[keys.index(key(row))] = row
    else:
        rows.append(row)
    shown = ["| %s |\n" % " | ".join(row._replace(command="`%s`" % row.command)) for row in rows]
    files.write(path, HEAD + "".join(shown))


def of_job(job, release):
    """The row of a job on a release before it was run: what it is of, and no result."""
    words = ["%s=%s" % item for item in job.environment.items()] + job.command
    command = " ".join(map(shlex.quote, words))
    return Row(job.part, release, command, result="", commit="", date="")


def key(row):
    """What a row is of: its seed may differ."""
    return row.part, row.release, re.sub(r"(seed[= ])\d+", r"\1", row.command)
