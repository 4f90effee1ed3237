"""Whether real programs give the same numbers on each release, and TensorFlow's own of 1.15.

    python -m compat.make.programs_equal --native PYTHON-OF-1.15 --python 1.15=... --python 2.21=...
        [--only NAME] [--mirrors FOLDER] [--work FOLDER]

A program of `STEADY` trains once without tpudist and without a TPU (``--use_tpu=False``,
TensorFlow's own TPUEstimator), and then under ``tpudist run --tpu virtual:8`` on each release,
from the same first checkpoint; what is `SUMMED` is compared with the first of these releases.
Compared are the loss of the last step with all numbers of the evaluation, and all variables of
the last checkpoint, each by its largest difference relative to the largest number of its
tensor. oneDNN's kernels are off: with 2.21's an MNIST net differs from itself without them by
9e-5 in the loss and 7 % in its smallest variables after twenty steps. Results go into
``compat/make/programs_equal.json``; a table of ``compat/PROGRAMS.md`` shows them.
"""

import argparse
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from compat.make import programs
from compat.make.programs_list import NO_GRADIENT, PROGRAMS, STEADY, STEADY_LINES, SUMMED

RESULTS = os.path.join(programs.HERE, "programs_equal.json")


def steady(name):
    """The program with what makes it deterministic, where that is known."""
    program = PROGRAMS[name]
    arguments = program.arguments
    for old, new in STEADY.get(name, {}).items():
        arguments = arguments.replace(old, new)
    lines = dict(program.lines, **STEADY_LINES.get(name, {}))
    return program._replace(arguments=arguments, lines=lines)


def train(python, name, native, mirrors, work, start=None):
    """The folder of a run, with its log and its model; from the first checkpoint of `start`."""
    program = steady(name)
    folder = programs.fetch(program.repository, program.date, mirrors, work)[0]
    out = tempfile.mkdtemp(dir=work)
    if start:
        os.makedirs(os.path.join(out, "model"))
        for path in glob.glob(os.path.join(start, "model", "model.ckpt-0.*")):
            shutil.copy(path, os.path.join(out, "model"))
        with open(os.path.join(out, "model", "checkpoint"), "w") as file:
            file.write('model_checkpoint_path: "model.ckpt-0"\n')
    place = programs.script(folder, program.files, {}, out)
    if program.lines:  # A copy beside it, so that the others run the file as it is.
        with open(place, encoding="utf-8") as file:
            text = file.read()
        for old, new in program.lines.items():
            if old not in text:
                raise SystemExit("%s has no line %r" % (program.files, old))
            text = text.replace(old, new)
        place = place[:-3] + "_steady.py"
        with open(place, "w", encoding="utf-8") as file:
            file.write(text)
    given = program.arguments.format(out=out, data=work, source=folder).split()
    run = ["-m", "tpudist", "run", "--tpu", program.tpu]
    if native:
        run = []
        given = [each for each in given if not each.startswith(("--tpu", "--use_tpu"))]
        given.append("--use_tpu=False")
    with open(os.path.join(out, "log"), "wb") as said:
        subprocess.run(
            [python, *run, place, *given],
            cwd=os.path.dirname(place),
            env=dict(programs.environment(folder, program.path, work), TF_ENABLE_ONEDNN_OPTS="0"),
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=subprocess.STDOUT,
            check=True,
        )
    return out


def numbers(out):
    """({name: number}, {name: array}): losses and evaluation, variables of a finished run."""
    import tensorflow as tf

    folder = os.path.join(out, "model")
    variables = {
        name: tf.train.load_variable(folder, name) for name, _ in tf.train.list_variables(folder)
    }
    with open(os.path.join(out, "log"), encoding="utf-8", errors="replace") as file:
        last = re.findall(r"Loss for final step: ([\d.e+-]+)\.\s", file.read())
    found = {"last loss": float(last[-1])}
    for path in sorted(glob.glob(os.path.join(folder, "eval*", "events.*"))):
        for event in tf.compat.v1.train.summary_iterator(path):
            for value in event.summary.value:
                if value.HasField("simple_value"):
                    found["evaluation: " + value.tag] = value.simple_value
    return found, variables


def difference(found, expected):
    """(the largest relative difference, of what, of how many) of two dictionaries."""
    import numpy as np

    if set(found) != set(expected):
        raise SystemExit("only one run has %s" % sorted(set(found) ^ set(expected)))
    each = []
    for name in sorted(found):
        scale = max(float(np.abs(expected[name]).max()), 1e-6)
        each.append((float(np.abs(found[name] - expected[name]).max()) / scale, name))
    return (*max(each), len(each))


def compare(name, release, found, expected):
    """Writes down how much (losses, variables) of a run differ from what was expected."""
    for _, variables in (found, expected):
        for each in [each for each in variables if NO_GRADIENT.get(name, "\0") in each]:
            del variables[each]
    losses, variables = [difference(*pair) for pair in zip(found, expected)]
    print("%s on %s: losses %s, variables %s" % (name, release, losses, variables))
    record(name, release, dict(losses=losses, variables=variables))


def main(arguments):
    """Runs what the arguments name, and writes results and page."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--native", required=True, metavar="PATH")
    options = programs.parsed(parser, arguments)
    where = (options.mirrors, options.work)
    for name in options.only or STEADY:
        start = train(options.native, name, True, *where)
        expected = start
        for release, python in (each.split("=", 1) for each in options.python):
            made = train(python, name, False, *where, start=start)
            if name in SUMMED and expected == start:
                expected = made
                continue
            compare(name, release, numbers(made), numbers(expected))
    programs.write_page()


def record(name, release, result):
    """Writes a result down."""
    found = {}
    if os.path.exists(RESULTS):
        with open(RESULTS) as file:
            found = json.load(file)
    found.setdefault(name, {})[release] = result
    with open(RESULTS, "w") as file:
        json.dump(found, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
