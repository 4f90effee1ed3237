"""Whether programs of TensorFlow 2 give TensorFlow's numbers on a virtual TPU, and in what time.

    python -m compat.make.programs_equal_tf2 [--only NAME] [--mirrors FOLDER] [--work FOLDER]

Each program runs three times on the TensorFlow of this Python, with tf_keras
(:mod:`compat.make.programs_equal_watch`): under ``tpudist run --tpu virtual:4``; on plain
TensorFlow, whose MirroredStrategy has four logical CPUs; and on its OneDeviceStrategy. All are
seeded, without oneDNN's kernels, and without dropout and shuffles. The first is compared with both
others: what its functions returned, the numbers that it printed, and the trainable variables at
the end. The CPU seconds of a step are written down. Results go into
``compat/make/programs_equal_tf2.json``; tables of ``compat/PROGRAMS.md`` show them.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

from compat.make import programs, programs_equal, programs_migrated
from compat.make.programs_equal_page import RESULTS_2

CORES = 4
WAYS = ("virtual", "mirrored", "plain")
#: TensorFlow's pages on MirroredStrategy are programs of a TPUStrategy here.
_TPU = {
    "tf.distribute.MirroredStrategy()": "tf.distribute.experimental.TPUStrategy("
    "tf.distribute.cluster_resolver.TPUClusterResolver('any'))"
}
_FEWER = dict(_TPU, **{"EPOCHS = 10": "EPOCHS = 2", "range(10)": "range(5)"})
#: {program: what else is written otherwise}: fewer epochs, and no shuffles.
LINES = {
    "docs, guide of TPUs, 2020-03": {"shuffle(10000).": "", "optimizer='adam'": "optimizer='sgd'"},
    "docs, guide of TPUs, 2020-09": {},
    "docs, guide of TPUs, 2021-06": {},
    "docs, custom loop, 2019-10": _FEWER,
    "docs, Keras under a strategy, 2020-09": dict(_TPU, **{"epochs=12": "epochs=3"}),
    "docs, saving under a strategy, 2020-09": _TPU,
    "autoencoder, Keras, 2020": {},
    "MNIST with summaries, 2020-09": {},
    "sine, Keras, 2020": {"epochs=10, steps_per_epoch=512": "epochs=2, steps_per_epoch=64"},
    "iris, Keras, 2020": {"epochs = 50": "epochs = 3", "pd.np.": "np."},
    "docs, custom loop, 2020-09": _FEWER,
    "docs, Keras under a strategy, 2019-10": dict(_TPU, **{"epochs=12": "epochs=3"}),
}
#: {program: another revision of which it is}
REVISIONS = {
    "docs, custom loop, 2020-09": "docs, custom loop, 2019-10",
    "docs, Keras under a strategy, 2019-10": "docs, Keras under a strategy, 2020-09",
}


def prepared(how, name, mirrors, work):
    """(program, its repository's folder, its file, how many lines of it are written otherwise)."""
    program = programs_equal.steady(REVISIONS.get(name, name))
    if name in REVISIONS:
        program = program._replace(date=name[-len("2020-09") :] + "-15")
    folder = programs.fetch(program.repository, program.date, mirrors, work)[0]
    place = programs.script(folder, program.files, {}, tempfile.mkdtemp(dir=work))
    with open(place, encoding="utf-8") as file:
        text = file.read()
    lines = dict(program.lines, **LINES[name])
    changed = sum(old in text for old in lines)
    for old, new in lines.items():
        text = text.replace(old, new)
    if how == "plain":
        text = re.sub(r"\w*strategy\.num_replicas_in_sync", str(CORES), text)
    place = "%s_%s.py" % (place[:-3], how)
    with open(place, "w", encoding="utf-8") as file:
        file.write(text)
    return program, folder, place, changed


def watched(how, name, mirrors, work):
    """{"calls", "variables", "printed", "changed"} of a run."""
    program, folder, place, changed = prepared(how, name, mirrors, work)
    out = tempfile.mkdtemp(dir=work)
    given = program.arguments.format(out=out, data=work, source=folder).split()
    result, log = os.path.join(out, "watched.json"), os.path.join(out, "log")
    start = ["-m", "compat.make.programs_equal_watch", how, "virtual:%d" % CORES, result, place]
    variables = {"TF_ENABLE_ONEDNN_OPTS": "0", "TF_USE_LEGACY_KERAS": "1", "KMP_BLOCKTIME": "0"}
    with open(log, "wb") as said:
        done = subprocess.run(
            [sys.executable, *start, *given],
            cwd=os.path.dirname(place),
            env=dict(programs.environment(folder, program.path, work), **variables),
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=subprocess.STDOUT,
        )
    with open(log, encoding="utf-8", errors="replace") as said:
        lines = said.read().split("\n")
    if done.returncode:
        raise SystemExit("%s, %s: %s" % (name, how, "\n".join(lines[-30:])))
    with open(result, encoding="utf-8") as file:
        printed = programs_migrated.numbers(lines)
        printed = [pair for pair in printed if not pair[0].startswith("0x")]  # an address
        return dict(json.load(file), printed=printed, changed=changed)


def step_of(calls):
    """The name of the function in which a program trains for most of its time."""
    return max(
        (name for name in calls if len(calls[name]) > 2 and "train" in name),
        key=lambda name: sum(each["seconds"] for each in calls[name]),
        default=None,
    )


def differences(found, expected):
    """{what: (how many, the largest relative difference)} of two runs.

    "losses" are what functions returned; "printed" are numbers of the output. Accuracies are
    apart, for they count examples.
    """
    returned = [
        (path, number, other["floats"][path])
        for name in sorted(set(found["calls"]) & set(expected["calls"]))
        for call, other in zip(found["calls"][name], expected["calls"][name])
        for path, number in call["floats"].items()
        if path in other["floats"]
    ]
    names = [what for what, _ in found["printed"]]
    if names != [what for what, _ in expected["printed"]]:
        raise SystemExit("other numbers are printed: %s" % names)
    printed = [(*one, two) for one, (_, two) in zip(found["printed"], expected["printed"])]
    variables = [
        (name, *pair)
        for name in sorted(set(found["variables"]) & set(expected["variables"]))
        for pair in zip(found["variables"][name], expected["variables"][name])
    ]
    return {
        "losses": _largest(row for row in returned if "acc" not in row[0]),
        "printed": _largest(row for row in printed if "acc" not in row[0]),
        "accuracies": _largest(row for row in returned + printed if "acc" in row[0]),
        "variables": _largest(variables),
    }


def _largest(rows):
    each = [abs(one - two) / max(abs(two), 1e-3) for _, one, two in rows]
    return [len(each), max(each, default=0.0)]


def times(calls, name):
    """[CPU seconds of the first call, of a later one (median), how many] of a function."""
    seconds = [each["seconds"] for each in calls.get(name, ())]
    if len(seconds) < 2:
        return None
    return [seconds[0], statistics.median(seconds[1:]), len(seconds)]


def run(name, mirrors, work):
    """The result of a program."""
    runs = {how: watched(how, name, mirrors, work) for how in WAYS}
    step = step_of(runs["mirrored"]["calls"])
    return {
        "lines": runs["mirrored"]["changed"],
        "differences": {how: differences(runs["virtual"], runs[how]) for how in WAYS[1:]},
        "step": step,
        "seconds": {how: times(runs[how]["calls"], step) for how in WAYS},
    }


def main(arguments):
    """Runs what the arguments name, and writes results and page."""
    options = programs.parsed(argparse.ArgumentParser(), arguments)
    for name in options.only or LINES:
        result = run(name, options.mirrors, options.work)
        print("%s: %s" % (name, json.dumps(result)), flush=True)
        programs.keep(RESULTS_2, name, result)
    programs.write_page()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
