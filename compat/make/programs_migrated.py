"""Whether public programs run after ``tpudist migrate --to latest --write``, with the same numbers.

    python -m compat.make.programs_migrated [--only NAME] [--mirrors FOLDER] [--work FOLDER]

A program of :mod:`compat.make.programs_list` runs under ``tpudist run``, as it is; then its
repository is migrated, and it runs by ``python FILE`` on plain TensorFlow of this Python. Both are
seeded (:mod:`compat.make.seeded`) and, where the list says how, have no dropout and no shuffles.
Compared are the losses, accuracies and other numbers of the evaluation that both print, in their
order, by the largest difference relative to the number. It exits with 1 if ``migrate`` said that
nothing is left of a program that then fails or gives other numbers. Results go into
``compat/make/programs_migrated.json``; a table of ``compat/MIGRATED.md`` shows them.
"""

import argparse
import decimal
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from compat.make import programs, programs_equal
from compat.make.programs_list import PROGRAMS
from tpudist.surfaces.eras.program import Walk

RESULTS = os.path.join(programs.HERE, "programs_migrated.json")
PAGE = os.path.join(programs.PAGES, "MIGRATED.md")
BEGIN, END = "<!-- programs: begin -->\n", "<!-- programs: end -->\n"
CLOSE = 1e-4
_NUMBER = re.compile(
    r"(?i)((?:\w*(?:loss|acc|auc|mse|mae|precision|recall|f1|perplexity)\w*)(?: for final step)?)"
    r"[\"']?\s*[:=(]?\s*(-?\d+(?:\.\d+)?(?:e[-+]?\d+)?|nan)\b"
)
#: Without these, oneDNN's kernels differ from run to run.
_VARIABLES = {"PYTHONDONTWRITEBYTECODE": "1", "TF_ENABLE_ONEDNN_OPTS": "0"}
_KERAS_2 = "TF_USE_LEGACY_KERAS"


def migrate(folder):
    """(exit code, how many uses are rewritten, the lines of what is left) of a repository."""
    command = [sys.executable, "-m", "tpudist", "migrate", folder, "--to", "latest", "--write"]
    done = subprocess.run(
        command + ["--report", "json"],
        capture_output=True,
        env=dict(os.environ, PYTHONPATH=programs.ROOT),
    )
    if done.returncode > 2 or not done.stdout:
        raise SystemExit("migrate: %s" % done.stderr.decode("utf-8")[-2000:])
    files = json.loads(done.stdout)["files"]
    return {
        "code": done.returncode,
        "rewritten": {os.path.relpath(f["path"], folder): len(f["rewritten"]) for f in files},
        "left": {
            os.path.relpath(f["path"], folder): [
                "%d: %s: %s; %s" % (u["line"], u["rule"], u["seen"], u["instead"])
                for u in f["left"]
            ]
            + (["refused: " + f["refused"]] if f["refused"] else [])
            for f in files
            if f["left"] or f["refused"]
        },
    }


def execute(when, program, folder, work, variables=()):
    """{"status", "said", "numbers", "files"} of a program that runs in a copy of its repository."""
    found = {"status": "", "said": "", "numbers": [], "files": set()}
    start = ["-m", "compat.make.seeded", when, program.tpu]
    with tempfile.TemporaryDirectory(dir=work) as out:
        read = os.path.join(out, "files")
        for path, given in zip(program.files.split(" ;; "), program.arguments.split(" ;; ")):
            place = programs.script(folder, path, {}, out)
            found["status"], found["said"] = programs.execute(
                sys.executable, program, folder, place, given, out, work, start,
                dict(_VARIABLES, SEEN_FILES=read, **dict(variables)),
            )  # fmt: skip
            with open(programs.log_of(place, work), encoding="utf-8", errors="replace") as file:
                found["numbers"] += numbers(file)
            if found["status"] != "runs":
                break
        if os.path.exists(read):
            with open(read, encoding="utf-8") as file:
                found["files"] = {os.path.relpath(line.strip(), folder) for line in file}
    return found


def numbers(lines):
    """[(what, number)] that lines print; of a line that is written over and over, its last.

    Keras' bar of progress is written as often as there is time, until nothing is left (ETA).
    """
    found = []
    for line in lines:
        if "ETA:" in line.rstrip("\b\n").rpartition("\b")[2]:
            continue
        each = {}
        for what, number in _NUMBER.findall(line):
            each[what.lower().replace("accuracy", "acc")] = float(number)  # Keras of 1 and of 2
        found += each.items()
    return found


def difference(before, after):
    """The largest relative difference of two lists of numbers; None if they name other things.

    One of the last digit that is printed, of four or more, is none.
    """
    if [what for what, _ in before] != [what for what, _ in after]:
        return None
    return max((_relative(one, two) for (_, one), (_, two) in zip(before, after)), default=0.0)


def _relative(one, two):
    if one != one or two != two:
        return 0.0 if one != one and two != two else float("inf")
    digits = max(4, *(-decimal.Decimal(repr(each)).as_tuple().exponent for each in (one, two)))
    apart = abs(one - two)
    return 0.0 if apart < 1.5 * 10**-digits else apart / max(abs(one), 1e-6)


def run(name, mirrors, work):
    """The result of a program."""
    program = programs_equal.steady(name)
    source, revision = programs.fetch(program.repository, program.date, mirrors, work)
    place = os.path.join(work, "migrated", name.replace(" ", "_").replace(",", ""))
    shutil.rmtree(place, ignore_errors=True)
    folder = os.path.join(place, os.path.basename(source))
    shutil.copytree(source, folder)
    if program.clones:
        other = programs.fetch(program.clones, program.date, mirrors, work)[0]
        shutil.copytree(other, os.path.join(folder, os.path.basename(other)))
    for path in program.files.split(" ;; "):
        edit(os.path.join(folder, path), program.lines)
    variables = {}
    if is_mirrored(folder, program):
        program, variables = program._replace(tpu="virtual:2"), {"MIRRORED": "1"}
    before = execute("before", program, folder, work)
    told = migrate(folder)
    if asks_for_keras_2(folder, program):
        variables = {**variables, _KERAS_2: "1"}  # `seeded` imports TensorFlow before its line
    after = execute("after", program, folder, work, variables)
    used = before["files"].union(program.files.split(" ;; "))
    left = [path + ":" + each for path in sorted(used) for each in told["left"].get(path, ())]
    return {
        "revision": revision,
        "rewritten": sum(told["rewritten"].get(path, 0) for path in used),
        "left": left,
        "before": before["status"],
        "after": after["status"],
        "said": after["said"] or before["said"],
        "numbers": len(before["numbers"]),
        "difference": difference(before["numbers"], after["numbers"]),
    }


def asks_for_keras_2(folder, program):
    """Whether what a program starts with asks for Keras 2."""
    texts = []
    for path in program.files.split(" ;; "):
        with open(os.path.join(folder, path), encoding="utf-8") as file:
            texts.append(file.read())
    return any(_KERAS_2 in text for text in texts)


def is_mirrored(folder, program):
    """Whether a program makes a TPUStrategy, which MirroredStrategy stands for afterwards.

    Each of its replicas computes apart, so that two have to do.
    """
    places = [os.path.join(folder, path) for path in program.files.split(" ;; ")]
    for place in list(places):
        if place.endswith(".py"):
            places += [path for path, _ in Walk(place, folder).files()]
    texts = []
    for place in places:
        with open(place, encoding="utf-8") as file:
            texts.append(file.read())
    return any("TPUStrategy(" in text for text in texts)


def edit(path, lines):
    """Writes lines of a program otherwise, in a notebook too."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for old, new in lines.items():
        if path.endswith(".ipynb"):
            old, new = (json.dumps(each)[1:-1] for each in (old, new))
        text = text.replace(old, new)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def is_silent_fault(result):
    """Whether nothing was told of a program that fails, or gives other numbers."""
    if result["before"] != "runs" or result["left"]:
        return False
    return (
        result["after"] != "runs" or result["difference"] is None or (result["difference"] > CLOSE)
    )


def table(found):
    """The table of results, and below it what is told of each program."""
    rows = [
        "| program | revision | uses rewritten | told | before | after | numbers | difference |",
        "|---|---|---|---|---|---|---|---|",
    ]
    told = []
    for name, each in found.items():
        close = each["difference"]
        differs = "other numbers" if close is None else "%.1e" % close
        cells = [name, each["revision"][:10], each["rewritten"], len(each["left"])]
        cells += [each["before"], each["after"], each["numbers"]]
        cells.append(differs if each["after"] == "runs" and each["numbers"] else "")
        rows.append("| %s |" % " | ".join(map(str, cells)))
        if each["said"]:
            told.append("* %s: `%s`" % (name, each["said"].replace("`", "'")))
        told += ["* %s: %s" % (name, line) for line in each["left"]]
    right = [
        each
        for each in found.values()
        if each["after"] == "runs" and (each["difference"] or 0.0) <= CLOSE
    ]
    wrong = [name for name, each in found.items() if is_silent_fault(each)]
    head = (
        "%d programs; %d run after it with the same numbers. Nothing is told of, and not right: %s."
    )
    return "%s\n\n%s\n\nWhat was told, and what failed:\n\n%s\n" % (
        head % (len(found), len(right), ", ".join(wrong) or "none"),
        "\n".join(rows),
        "\n".join(told) or "Nothing.",
    )


def write_page(found):
    """Writes the table between its marks in MIGRATED.md."""
    with open(PAGE, encoding="utf-8") as file:
        text = file.read()
    above, _, rest = text.partition(BEGIN)
    below = rest.partition(END)[2]
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(above + BEGIN + table(found) + END + below)


def main(arguments):
    """Runs what the arguments name, and writes results; the exit code."""
    options = programs.parsed(argparse.ArgumentParser(), arguments)
    wrong = []
    for name in options.only or PROGRAMS:
        result = run(name, options.mirrors, options.work)
        print("%s: %s" % (name, json.dumps(result)), flush=True)
        found = programs.keep(RESULTS, name, result)
        write_page({name: found[name] for name in PROGRAMS if name in found})
        if is_silent_fault(result):
            wrong.append(name)
    for name in wrong:
        print("nothing was told of %s, which is not right" % name)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
