"""Runs real training programs of public code bases under ``tpudist run``, each release in turn.

    python -m compat.make.programs --python 1.15=/path/to/python --python 2.15=... [--only NAME]
        [--mirrors FOLDER] [--work FOLDER] [--cores cpus]

Fetches each repository (``git clone`` from GitHub, or ``FOLDER/owner+name/repo``), takes the
program's revision, and runs the file as it is on a virtual TPU, of eight cores if not said
otherwise. A notebook is run as the Python of its code cells, without lines for the shell.
Data sets that the programs download are not needed: :mod:`compat.make.programs_data` and
:mod:`compat.make.programs_data2` make small random ones. The programs are in
:mod:`compat.make.programs_list`. Results go into ``compat/make/programs.json``, those on logical
CPUs into ``compat/make/programs_cpus.json``; their page is ``compat/PROGRAMS.md``. Nothing of them
is kept."""

import argparse
import fcntl
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from compat.make import programs_data, programs_data2, programs_equal_page
from compat.make.programs_list import PROGRAMS, STEADY_LINES, SUMMED

HERE = os.path.dirname(os.path.abspath(__file__))
PAGES = os.path.dirname(HERE)
ROOT = os.path.dirname(PAGES)
RESULTS = os.path.join(HERE, "programs.json")
RESULTS_ON_CPUS = os.path.join(HERE, "programs_cpus.json")
PAGE = os.path.join(PAGES, "PROGRAMS.md")
LIMIT = 600
RELEASES = ("1.15", "2.2", "2.15", "2.21")
_ON_CPUS = """## Each core a device

Run by `python -m compat.make.programs --cores cpus`, most of those that take minutes left out:
`cpus:8` for `virtual:8`, TensorFlow's own mirrored strategy. Ran to their end: %s.

SEED RL's tests give one strategy variables of another, which a mirrored strategy refuses.
`modular_gan_tpu_test` keeps a list that grows with each trace; a TPU traces once, a mirrored
strategy each replica. In the guide of TPUs some cores have no rows of the last batch, and oneDNN's
convolution of no rows has a wrong shape, without tpudist too; with `TF_ENABLE_ONEDNN_OPTS=0` it
runs. The custom loop makes a `MirroredStrategy`, which takes all eight CPUs, and so asks for more
than our 2,048 images. "Slow" were two, while the machine did other work.

%s
"""
_EQUAL = """## The same numbers

Run by `python -m compat.make.programs_equal`: without dropout and with training rows alike or in
order (where the program has no argument for that, with lines of it changed), from the same first
checkpoint, without oneDNN's kernels. A cell has the largest relative difference of the last loss
and of what the evaluation says, and that of all variables of the last checkpoint. A program that
hands its own gradients to `CrossShardOptimizer` trains on their sum, eight times what it has
without a TPU, and one that normalizes batches has a core's moments; they are compared with the
virtual TPU of 1.15. Left out is the bias of Grover's keys, which a softmax takes away: its gradient
is rounding, and Adafactor scales it to one. (ResNet's last loss is TensorFlow's own to 6e-7, that
of its evaluation 2e-4.)

| program | how | compared with | %s |
%s
%s
"""


def fetch(repository, date, mirrors, work):
    """(folder with the files of a revision, the revision).

    What a partial copy of a repository lacks, large files, is left out.
    """
    git = os.path.join(mirrors or work, repository.replace("/", "+"), "repo")
    if os.path.isdir(os.path.join(git, ".git")):
        git = os.path.join(git, ".git")
    if not os.path.isdir(git):
        url = "https://github.com/%s.git" % repository
        subprocess.run(["git", "clone", "-q", "--bare", url, git], check=True)
    command = ["git", "--git-dir", git]
    revision = subprocess.check_output(
        command + ["rev-list", "-1", "--before=%sT23:59:59Z" % date, "HEAD"],
        universal_newlines=True,
    ).strip()
    place = os.path.join(work, "src", repository.replace("/", "+"), revision[:10])
    folder = os.path.join(place, repository.split("/")[1].replace("-", "_"))
    if not os.path.exists(folder):
        _extract(command, revision, folder)
    return folder, revision


def _extract(command, revision, folder):
    """Writes the files of a revision below a folder."""
    listed = subprocess.check_output(command + ["ls-tree", "-r", "-z", revision]).decode("utf-8")
    rows = [row.split("\t", 1) for row in listed.split("\0") if row.startswith("100")]
    asked = "".join(head.split(" ")[2] + "\n" for head, _ in rows).encode("ascii")
    found = subprocess.run(
        command + ["cat-file", "--batch"], input=asked, stdout=subprocess.PIPE, check=True
    ).stdout
    stream = io.BytesIO(found)
    for _, path in rows:
        kind, _, size = stream.readline().decode("ascii").strip().partition(" blob ")
        if size:
            content = stream.read(int(size) + 1)[:-1]
            os.makedirs(os.path.dirname(os.path.join(folder, path)), exist_ok=True)
            with open(os.path.join(folder, path), "wb") as file:
                file.write(content)


def script(folder, path, lines, out):
    """The file to run: the program's own, or the code cells of its notebook.

    A line that is written otherwise is written so in the copy of the revision.
    """
    place = os.path.join(folder, path)
    if not path.endswith(".ipynb"):
        text = pathlib.Path(place).read_text("utf-8") if lines else ""
    else:
        with open(place, encoding="utf-8") as file:
            cells = [c["source"] for c in json.load(file)["cells"] if c["cell_type"] == "code"]
        every = "\n".join("".join(cell) + "\n" for cell in cells).split("\n")
        text = "\n".join(re.sub(r"^(\s*)[!%].*", r"\1pass", line) for line in every)
        place = os.path.join(out, os.path.basename(path)[:-6] + "_notebook.py")
    for old, new in lines.items():
        if old not in text and new not in text:
            raise SystemExit("%s has no line %r" % (path, old))
        text = text.replace(old, new)
    if text:
        with open(place, "w", encoding="utf-8") as file:
            file.write(text)
    return place


def run(python, name, mirrors, work, cores="virtual"):
    """A result: {"revision", "status", "said"}."""
    program = PROGRAMS[name]
    program = program._replace(tpu=program.tpu.replace("virtual", cores))
    folder, revision = fetch(program.repository, program.date, mirrors, work)
    if program.clones:
        other = fetch(program.clones, program.date, mirrors, work)[0]
        beside = os.path.join(folder, os.path.basename(other))
        if not os.path.exists(beside):
            shutil.copytree(other, beside)
    with tempfile.TemporaryDirectory(dir=work) as out:
        for path, given in zip(program.files.split(" ;; "), program.arguments.split(" ;; ")):
            place = script(folder, path, program.lines, out)
            status, said = execute(python, program, folder, place, given, out, work)
            if status != "runs":
                break
    return {"revision": revision, "status": status, "said": said}


def environment(folder, path, work):
    """Variables of the run: the revision is found as a package, and what is in it or in `path`.

    Not where that would hide TensorFlow behind a folder of its name.
    """
    hides = os.path.isdir(os.path.join(folder, "tensorflow"))
    places = [] if hides else [folder, os.path.dirname(folder)]
    places += [os.path.join(folder, path)] if path else []
    # TensorFlow 2 sets it where it is imported, as the data's maker does: 1.15 would follow it.
    given = {name: value for name, value in os.environ.items() if name != "TF2_BEHAVIOR"}
    return dict(
        given,
        KERAS_HOME=os.path.join(work, ".keras"),
        HOME=work,
        TF_CPP_MIN_LOG_LEVEL="3",
        COLAB_TPU_ADDR="10.0.0.2:8470",
        MPLBACKEND="Agg",
        PYTHONPATH=os.pathsep.join([ROOT] + places + [os.environ.get("PYTHONPATH", "")]),
    )


def execute(python, program, folder, place, given, out, work, start=None, variables=()):
    """(status, what was said last) of one file.

    Args:
      start: what a Python is told before the file; ``tpudist run`` if it is None.
      variables: more of the environment.
    """
    words = given.format(out=out, data=work, source=folder).split()
    for i, word in enumerate(words):
        if word.startswith("here:"):  # a file that has to be in the program's folder
            words[i] = word[len("here:") :]
            shutil.copy(os.path.join(work, words[i]), os.path.dirname(place))
    start = ["-m", "tpudist", "run", "--tpu", program.tpu] if start is None else start
    command = [python, *start, place, *words]
    log = log_of(place, work)
    try:
        with open(log, "wb") as said:
            done = subprocess.run(
                command,
                cwd=os.path.dirname(place),
                env=dict(environment(folder, program.path, work), **dict(variables)),
                timeout=LIMIT,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=subprocess.STDOUT,
            )
    except subprocess.TimeoutExpired:
        return "slow", "more than %d s" % LIMIT
    if done.returncode == 0:
        return "runs", ""
    with open(log, encoding="utf-8", errors="replace") as file:
        return failure(file.read().strip().split("\n"))


def log_of(place, work):
    """Where the output of a file is, once it has run."""
    return os.path.join(work, "%s.log" % os.path.basename(place))


def failure(lines):
    """(status, what was said last) of output that ended with an error."""
    said = ([line for line in lines if re.search(r"(Error|Exception)\b", line)] or lines)[-1][:300]
    lacks = re.search(r"No module named '([\w.]+)'", said)
    if lacks and not lacks.group(1).startswith(("tensorflow.", "tpudist")):
        return "lacks " + lacks.group(1).split(".")[0], ""
    return "fails", said.strip()


def results(path=RESULTS):
    """What was recorded: {name: {release: result}}."""
    if not os.path.exists(path):
        return {}
    with open(path) as file:
        return json.load(file)


def record(name, release, result, path=RESULTS):
    """Writes a result down; other processes may do so at the same time."""
    with open(path, "r+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        found = json.load(file)
        found.setdefault(name, {})[release] = result
        file.seek(0)
        known = [each for each in PROGRAMS if each in found]  # The other process may know more.
        json.dump({each: found[each] for each in dict.fromkeys(known + [*found])}, file, indent=1)
        file.write("\n")
        file.truncate()


def page(found):
    """The text of PROGRAMS.md."""
    releases = RELEASES
    rows = [
        "| program | repository, revision | file | how | " + " | ".join(releases) + " |",
        "|---" * (4 + len(releases)) + "|",
    ]
    notes, counted = [], dict.fromkeys(releases, 0)
    for name, each in found.items():
        program = PROGRAMS[name]
        revision = next(iter(each.values()))["revision"][:10]
        cells = []
        for release in releases:
            result = each.get(release)
            refused = "not for it" if release in program.not_for.split() else "not run"
            cells.append(result["status"] if result else refused)
            counted[release] += bool(result and result["status"] == "runs")
            if result and result["said"]:
                notes.append("* %s, %s: `%s`" % (name, release, result["said"].replace("`", "'")))
        rows.append(
            "| %s | %s@%s | %s | %s, %s | "
            % (name, program.repository, revision, program.files, _how(program), program.tpu)
            + "%s |" % " | ".join(cells)
        )
    tally = ", ".join(
        "%d of %d on %s" % (counted[r], sum(r in e for e in found.values()), r) for r in releases
    )
    with open(os.path.join(HERE, "programs_head.md"), encoding="utf-8") as file:
        head = file.read()
    return "%s\n%s\n\n%s\n\n## What the others said last\n\n%s\n\n%s\n%s" % (
        head,
        "%s\nRun to their end: %s." % (_whole(found), tally),
        "\n".join(rows),
        "\n".join(notes) or "Nothing.",
        _on_cpus(results(RESULTS_ON_CPUS)) + "\n" + _equal(),
        programs_equal_page.sections(),
    )


def _whole(found):
    """How many programs, of how many code bases, run on every release that they are for."""
    whole = []
    for name, each in found.items():
        run = {release for release, result in each.items() if result["status"] == "runs"}
        if run and run >= set(RELEASES) - set(PROGRAMS[name].not_for.split()):
            whole.append(name)
    counts = [
        (len(names), len({PROGRAMS[name].repository for name in names}))
        for names in (found, whole, [name for name in whole if not PROGRAMS[name].lines])
    ]
    return (
        "%d programs of %d code bases. %d, of %d code bases, run on every release that they are\n"
        "for, %d of these, of %d, unmodified."
    ) % sum(counts, ())


def _on_cpus(found):
    """The section of the programs whose cores were logical CPUs."""
    tallies = []
    for release in RELEASES:
        ran = [each[release]["status"] == "runs" for each in found.values() if release in each]
        tallies += ["%d of %d on %s" % (sum(ran), len(ran), release)] if ran else []
    others = [
        "* %s, %s: `%s`" % (name, release, result["said"].replace("`", "'"))
        for name, each in found.items()
        for release, result in sorted(each.items())
        if result["status"] != "runs"
    ]
    return _ON_CPUS % (", ".join(tallies), "\n".join(others) or "None.")


def _equal():
    """The table of `compat.make.programs_equal`."""
    with open(os.path.join(HERE, "programs_equal.json")) as file:
        found = json.load(file)
    rows = []
    for name, each in found.items():
        cells = [
            "%.1e, %.1e" % (each[r]["losses"][0], each[r]["variables"][0]) if r in each else ""
            for r in RELEASES
        ]
        count = len(STEADY_LINES.get(name, ()))
        lines = "%d line%s" % (count, "s" * (count > 1)) if count else "unmodified"
        oracle = "1.15, virtual TPU" if name in SUMMED else "TensorFlow 1.15, `use_tpu=False`"
        rows.append("| %s | %s | %s | %s |" % (name, lines, oracle, " | ".join(cells)))
    return _EQUAL % (" | ".join(RELEASES), "|---" * (3 + len(RELEASES)) + "|", "\n".join(rows))


def _how(program):
    """What was changed: nothing, or how many lines; and what it needs."""
    count = len(program.lines)
    how = "%d line%s" % (count, "s" * (count > 1)) if count else "unmodified"
    return how + (", with " + program.needs if program.needs else "")


def parsed(parser, arguments):
    """What a command runs, with which Pythons, from where; the data are there then."""
    parser.add_argument("--python", action="append", default=[], metavar="RELEASE=PATH")
    parser.add_argument("--only", action="append", metavar="NAME")
    parser.add_argument("--mirrors")
    parser.add_argument("--work", default=os.path.join(tempfile.gettempdir(), "programs"))
    options = parser.parse_args(arguments)
    os.makedirs(options.work, exist_ok=True)
    if not os.path.exists(os.path.join(options.work, ".keras")):
        programs_data.make(options.work)
    if not os.path.exists(os.path.join(options.work, "classes.json")):
        programs_data2.make(options.work)
    return options


def keep(path, name, result):
    """Adds a result to those of a file; returns all of them, {name: result}."""
    found = {}
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
    found[name] = result
    with open(path, "w", encoding="utf-8") as file:
        json.dump(found, file, indent=1)
        file.write("\n")
    return found


def write_page():
    """Makes the page of all results."""
    with open(PAGE, "w", encoding="utf-8") as file:
        found = results()
        file.write(page({name: found[name] for name in PROGRAMS if name in found}))


def main(arguments):
    """Runs what the arguments name, and writes results and page."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--cores", choices=["virtual", "cpus"], default="virtual")
    options = parsed(parser, arguments)
    for name in options.only or PROGRAMS:
        for release, python in (each.split("=", 1) for each in options.python):
            if release in PROGRAMS[name].not_for.split():
                continue
            result = run(python, name, options.mirrors, options.work, options.cores)
            print("%s on %s: %s %s" % (name, release, result["status"], result["said"]), flush=True)
            path = RESULTS_ON_CPUS if options.cores == "cpus" else RESULTS
            record(name, release, result, path)
    write_page()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
