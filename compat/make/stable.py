"""Writes STABLE.md: what a version of tpudist holds still, read off the package itself.

python -m compat.make.stable
"""

import argparse
import configparser
import inspect
import pathlib
import sys

import tpudist
from tpudist import cli, errors, surfaces
from tpudist.toolbox import table
from tpudist.tools.compile import report
from tpudist.tools.pins import fixture, store

HERE = pathlib.Path(__file__).resolve().parent.parent
PAGE = HERE / "STABLE.md"

#: {variable: what it does}; a test compares them with those that the package reads.
VARIABLES = {
    "TPUDIST_ALLOW_EAGER_RUN": "1: `strategy.run` takes a plain function in eager mode, and wraps "
    "it in a `tf.function`, as TensorFlow 1.15 and 2.0 did",
    "TPUDIST_CACHE": "the folder where `tpudist matrix` keeps environments",
    "TPUDIST_START_TIMEOUT": "seconds in which all workers of a cluster have to come; by "
    "default 300",
    "TPUDIST_SEED": "the seed of what a program on a cluster draws without one of its own",
    "TPUDIST_CHECK_REPLICAS": "the steps after which the workers of a cluster compare what "
    "they hold of each variable",
    "TPUDIST_DEVICE": "what computes for a virtual TPU: `CPU:0`, the default, or `GPU:0`",
    "TPUDIST_LIBTPU": "the path of a libtpu.so, for `tpudist run --compile`",
    "TPUDIST_TPU": "the TPU, such as `virtual:8`; it overrides the name that a program says",
    "TPUDIST_TPU_CHECK": "what becomes of what a TPU would refuse: `warn`, the default, `error` or "
    "`off`",
    "TPUDIST_TPU_NUMBERS": "1: the operands of float32 products are rounded to bfloat16, as a TPU "
    "does by default",
    "TPUDIST_TPU_TIMEOUT": "seconds until a question to a TPU, or a wait for one, is given up; by "
    "default 30",
    "TPUDIST_TRACEBACK": "1: an error of a command shows its traceback",
    "TPUDIST_VECTORIZE": "0: the virtual TPU does every op once per replica",
}

#: {variable: what it does} of those that are for tpudist's own tests, and may change.
OWN_VARIABLES = {
    "TPUDIST_EXPECT_TF": "the release that `tpudist matrix` runs a command on; tests compare it",
    "TPUDIST_STRICT_BATCHING": "1: an error of a batching rule, or of a check, ends the program",
}

#: {command: {exit code: when}}; every command but `run` ends with 2 after a usage error.
EXIT_CODES = {
    "run": {
        "the script's own": "it ended; 1 after an exception",
        "1": "with `--compile`: a replica function does not compile, or a gate says no",
        "2": "the script cannot be run; it was not started",
    },
    "launch": {"that of the first worker that failed": "128 and its number for a signal"},
    "doctor": {"0": "nothing is wrong", "1": "something is"},
    "selftest": {
        "0": "every value agrees that was tried",
        "1": "one differs, or a program fails",
        "3": "the time was up before the end, and what was tried agrees",
    },
    "matrix": {
        "0": "the command passed on every release",
        "1": "it failed on one",
        "2": "a release could not be set up",
    },
    "pins report": {"0": "the releases agree", "1": "they differ"},
    "migrate": {
        "0": "nothing is left",
        "1": "a use is left; with `--check`: a file would change",
        "2": "a file was refused",
    },
    "help": {"0": "always, but for a topic that there is not: 2"},
    "completion": {"0": "always, but without shtab: 2"},
}

_HEAD = """# What is stable

Written by `python -m compat.make.stable` from the package; a test fails when it is not fresh.

tpudist has [semantic versions](https://semver.org). What stands on this page, and every name in
[SURFACES.md](SURFACES.md), works in all of 1.x as it does now: a program, a test or a CI job that
uses nothing else needs no change. Names may be added, and so may fields of a format. Other modules
of the package are its own; they change without notice.

**Deprecated** means: the name still works, a `DeprecationWarning` at the caller's line (of a
command: a line on stderr) says what to type instead, and the changelog says since when. It goes
with the next major version, and not before a year has passed.

**Not promised**: the words of messages and pages, the figures of `compat/FIGURES.md`, how many ops
a batched step has, and the bits of a number. Numbers are those of TensorFlow's own strategy
within a float's rounding; [README.md](README.md) lists the exceptions. A correction of a wrong
number is no breaking change, and the changelog has it.
"""


def main():
    """Writes ``STABLE.md``; returns 0."""
    PAGE.write_text(page(), "utf-8")
    return 0


def page():
    """The text of STABLE.md."""
    sections = (_versions, _names, _commands, _codes, _formats, _variables)
    return _HEAD + "".join("\n" + "\n".join(section()) + "\n" for section in sections)


def _versions():
    config = configparser.ConfigParser()
    config.read(str(HERE.parent / "setup.cfg"), "utf-8")
    label = "Programming Language :: Python :: 3."
    minors = [
        int(line[len(label) :])
        for line in config["metadata"]["classifiers"].split("\n")
        if line.startswith(label)
    ]
    releases = [row.minor for row in table.read().values() if "rc" not in row.requirement]
    yield "## Pythons and TensorFlows\n"
    yield (
        "Python 3.%d to 3.%d; TensorFlow %s to %s, each with the Pythons that it has wheels for"
        % (min(minors), max(minors), releases[0], releases[-1])
    )
    yield "([MATRIX.md](MATRIX.md)). Within 1.x none of them is dropped; newer ones are added by a"
    yield "minor version."


def _names():
    yield "## Names\n"
    yield "| module | names |"
    yield "|---|---|"
    yield _row("tpudist", ["__version__"] + list(vars(tpudist)["_FUNCTIONS"]))
    for era in surfaces.ERAS:
        yield _row("tpudist." + era, sorted(surfaces.EXPORTS[era]) + ["tensorflow"])
    yield _row(
        "tpudist.errors",
        [
            name
            for name, found in vars(errors).items()
            if inspect.isclass(found) and issubclass(found, errors.TpudistError)
        ],
    )
    checks = [name for name in vars(fixture.Pin) if not name.startswith("_")]
    yield _row("the pytest fixture `pin`", [name for name in checks if name.startswith("check")])
    yield _row("pytest", ["--pins-update", "--pins-record", "--tpu-check"])
    yield "\nEach error is also the builtin error that programs of its era catch. It has `seen`,"
    yield "`why` and `instead`."


def _row(module, names):
    shown = module if "`" in module else "`%s`" % module
    return "| %s | %s |" % (shown, ", ".join("`%s`" % name for name in names))


def _commands():
    yield "## Commands\n"
    yield "Each takes `--help`, `--version`, `--quiet` and `--verbose` too.\n"
    yield "| command | options |"
    yield "|---|---|"
    for name, parser in commands().items():
        yield _row("`tpudist %s`" % name, list(options(parser)))


def commands():
    """{"run": its parser, "pins report": ..., ...} of the command line."""
    found = {}
    for name, parser in _choices(cli.parser()).items():
        below = _choices(parser)
        found.update({"%s %s" % (name, action): below[action] for action in below})
        if not below:
            found[name] = parser
    return found


def _choices(parser):
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return action.choices
    return {}


def options(parser):
    """What a command takes: positional arguments by name, options by each spelling."""
    for action in parser._actions:
        if action.dest not in ("help", "version", "quiet", "verbose"):
            yield from action.option_strings or [action.dest.upper()]


def _codes():
    yield "## Exit codes\n"
    yield "| command | code | when |"
    yield "|---|---|---|"
    for command, codes in EXIT_CODES.items():
        for code, when in codes.items():
            yield "| `tpudist %s` | %s | %s |" % (command, code, when)
    yield "\nA usage error, or an error of tpudist's own, ends a command with 2 and one message."


def _formats():
    yield "## Formats\n"
    yield "| file | version | promise |"
    yield "|---|---|---|"
    yield (
        '| pins (`test_x.pins.json`) | `"format": %d` | later versions read it; an older tpudist '
        "refuses a newer format |" % store.FORMAT
    )
    yield (
        '| `tpudist run --compile --json` | `"schema": %d` | fields are added; one that changes '
        "makes a new schema |" % report.SCHEMA
    )
    for kind in (
        "tpudist doctor --json",
        "tpudist selftest --json",
        "tpudist migrate --report json",
    ):
        yield "| `%s` | | fields are added |" % kind
    yield "| a table of releases, for `tpudist matrix --table` | | keys are added |"
    yield "| comments `# tpudist: ...` | | the guide has them |"


def _variables():
    yield "## Variables\n"
    yield "| variable | what it does |"
    yield "|---|---|"
    for name, text in VARIABLES.items():
        yield "| `%s` | %s |" % (name, text)
    yield "\nNot promised, for tests of tpudist itself: %s." % "; ".join(
        "`%s` (%s)" % each for each in OWN_VARIABLES.items()
    )


if __name__ == "__main__":
    sys.exit(main())
