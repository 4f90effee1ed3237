"""Runs the examples of one page in a process of its own; prints JSON.

    python -m tests.pages.child ERA PAGE FOLDER

A process a page: on TensorFlow 1 the 2.x eras switch eager execution on, for
good. Each block runs from a file in FOLDER, so that AutoGraph finds its source.
"""

import doctest
import importlib
import json
import os
import re
import sys
import types

import numpy as np

from tests.pages import blocks, cases


class Checker(doctest.OutputChecker):
    """Knows that NumPy 2 prints ``np.float64(3.0)`` where NumPy 1 printed 3.0."""

    def check_output(self, want, got, optionflags):
        """Whether `got` is what the page prints."""
        got = re.sub(r"np\.\w+\(([^()]*)\)", r"\1", got)
        return super().check_output(want, got, optionflags)


def write_records(folder, tf):
    """Writes 1.tfr to 4.tfr, of two records each; returns where, with a slash."""
    folder = os.path.join(folder, "")
    for file in range(1, 5):
        with tf.compat.v1.python_io.TFRecordWriter("%s%d.tfr" % (folder, file)) as to:
            for record in range(2):
                to.write(b"%d%d" % (file, record))
    return folder


def run(block, case, tf, folder):
    """Runs one block; whatever it raises is its outcome."""
    module = types.ModuleType("page_block")
    sys.modules[module.__name__] = module
    space = module.__dict__
    space.update(tf=tf, np=np, folder=folder)
    execute("before", case.before, space, folder)
    if block.kind == "doctest":
        run_doctest(block, space)
    else:
        code = blocks.as_python(block.code)
        for old, new in case.replace:
            assert old in code, old
            code = code.replace(old, new)
        try:
            execute("block", code, space, folder)
        except Exception as error:
            if type(error).__name__ != "Enough":
                raise
    execute("after", case.after, space, folder)


def execute(name, code, space, folder):
    """Executes code from a file."""
    execute.number = getattr(execute, "number", 0) + 1
    path = os.path.join(folder, "%s_%d.py" % (name, execute.number))
    with open(path, "w") as file:
        file.write(code)
    exec(compile(code, path, "exec"), space)


def run_doctest(block, space):
    """Runs a doctest; raises AssertionError with doctest's report."""
    test = doctest.DocTestParser().get_doctest(block.code, space, block.id, block.id, 0)
    assert test.examples and any(example.want for example in test.examples)
    report = []
    runner = doctest.DocTestRunner(Checker(), verbose=False)
    failed, _ = runner.run(test, out=report.append, clear_globs=False)
    assert not failed, "".join(report)


def outcome(block, case, era, folder):
    """``{"error": name or None, "text": ...}`` of one block."""
    tf = importlib.import_module("tpudist.%s.tensorflow" % era)
    strategy = tf.distribute.experimental.TPUStrategy
    try:
        if era == "contrib":
            with tf.Graph().as_default():
                run(block, case, tf, folder)
        else:
            run(block, case, tf, folder)
    except Exception as error:  # noqa: BLE001
        return {"error": type(error).__name__, "text": str(error)}
    finally:
        tf.distribute.experimental.TPUStrategy = strategy
    return {"error": None, "text": ""}


def main(era, page, folder):
    """Runs the page; the last line printed is a JSON object by block id."""
    tf = importlib.import_module("tpudist.%s.tensorflow" % era)
    if era != "contrib":
        tf.compat.v1.enable_v2_behavior()
    write_records(folder, tf)
    with open(page, encoding="utf-8") as file:
        found = blocks.of_page(os.path.basename(page), file.read())
    results = {
        block.id: outcome(
            block, cases.CASES.get(block.id, cases.Case()), era, os.path.join(folder, "")
        )
        for block in found
        if block.kind != "signature"
    }
    print("\n" + json.dumps(results))


if __name__ == "__main__":
    main(*sys.argv[1:])
