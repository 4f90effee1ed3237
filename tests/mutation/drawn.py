"""Draws mutants from every package of tpudist; its quick tests must notice them.

    python -m tests.mutation.drawn [--seed S] [--each N] [PACKAGE|FILE ...]

breaks N places (2) of each package, or of the named folders and files, one after the other, in a
copy of the checkout: a comparison turned, a condition negated, a number one too large, nothing
returned. The quick tests of the package run on each. It prints the mutants that survived, and
killed / total, and exits with 1 if more than a fifth of them survived: a mutant may be the same
program, or be noticed by slow tests alone.
"""

import argparse
import ast
import collections
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

from tests import ROOT

#: A broken place: the file, its number among the places of the file, its line, and what it becomes.
Mutant = collections.namedtuple("Mutant", "file number line change")

#: {folder of the package: the tests that are about it}, where no folder of tests has its name.
TESTS = {
    "": ["test_cli.py", "test_console.py", "laws"],
    "adapter": ["conformance"],
    "backends": ["conformance", "native"],
    "common": ["conformance"],
    "computations": ["contrib"],
    "contrib/tensorflow": ["dropin"],
    "input": ["conformance"],
    "strategy": ["conformance"],
    "system": ["conformance", "cloud"],
    "tfcompat": ["conformance"],
    "toolbox": ["tools/pins", "tools/matrix"],
    "tools": ["test_cli.py"],
    "tools/launch": ["tools/test_launch.py"],
    "tools/migrate/resolution": ["tools/migrate"],
    "tools/migrate/rules": ["tools/migrate"],
    "tools/selftest/programs": ["tools/selftest"],
    "v2_0": ["conformance"],
    "v2_0/tensorflow": ["dropin"],
    "v2_2": ["conformance"],
    "v2_2/tensorflow": ["dropin"],
    "virtual/vectorize/rules": ["virtual/vectorize"],
    "virtual/vectorize/values": ["virtual/vectorize"],
}

#: How many of a hundred may survive.
_BOUND = 20
#: Seconds that the tests of a mutant may take: a loop without end is noticed too.
_LIMIT = 900
_COPIED = ("tpudist", "tests", "compat", "examples", ".ci", ".github")

_COMPARISONS = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
_OPERATORS = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Mod: ast.Mult}


def _compare(node):
    node.ops[0] = _COMPARISONS[type(node.ops[0])]()


def _bool(node):
    node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()


def _negate(node):
    node.test = ast.UnaryOp(ast.Not(), node.test)


def _operate(node):
    node.op = _OPERATORS[type(node.op)]()


def _count(node):
    node.value = not node.value if isinstance(node.value, bool) else node.value + 1


def _return(node):
    node.value = ast.Constant(None)


def _is_text(node):
    return isinstance(node, ast.JoinedStr) or isinstance(getattr(node, "value", None), str)


#: (what becomes of a node, whether it can, in words).
_WAYS = [
    (_compare, lambda node: isinstance(node, ast.Compare), "comparison turned"),
    (_bool, lambda node: isinstance(node, ast.BoolOp), "and and or exchanged"),
    (_negate, lambda node: isinstance(node, (ast.If, ast.IfExp, ast.While)), "condition negated"),
    (
        _operate,
        lambda node: (
            isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS and not _is_text(node.left)
        ),
        "another operator",
    ),
    (_count, lambda node: type(getattr(node, "value", None)) in (int, bool), "one more"),
    (
        _return,
        lambda node: (
            isinstance(node, ast.Return)
            and node.value is not None
            and not (isinstance(node.value, ast.Constant) and node.value.value is None)
        ),
        "nothing returned",
    ),
]


def places(tree):
    """(node, what becomes of it, in words) of each place in the functions of a module."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    seen = {}
    for function in functions:
        for statement in function.body:
            for node in ast.walk(statement):
                if not isinstance(node, ast.Constant) or type(node.value) in (int, bool):
                    seen[id(node)] = node
    for node in seen.values():
        for change, fits, words in _WAYS:
            if fits(node) and (change is not _count or isinstance(node, ast.Constant)):
                yield node, change, words


def mutants(file):
    """All `Mutant` of a file, whose path is of the checkout."""
    tree = ast.parse(pathlib.Path(ROOT, file).read_text("utf-8"))
    return [
        Mutant(file, number, node.lineno, words)
        for number, (node, _, words) in enumerate(places(tree))
    ]


def broken(mutant):
    """The source of a mutant."""
    tree = ast.parse(pathlib.Path(ROOT, mutant.file).read_text("utf-8"))
    node, change, _ = list(places(tree))[mutant.number]
    change(node)
    return ast.unparse(ast.fix_missing_locations(tree))


def packages():
    """Each folder below ``tpudist`` that has modules, as paths of the checkout."""
    top = pathlib.Path(ROOT, "tpudist")
    return sorted({path.parent.relative_to(ROOT).as_posix() for path in top.rglob("*.py")})


def files(place):
    """The modules of a folder, without those of folders in it; or the one file."""
    path = pathlib.Path(ROOT, place)
    found = [path] if path.is_file() else sorted(path.glob("*.py"))
    return [each.relative_to(ROOT).as_posix() for each in found]


def tests_of(file):
    """The tests that must notice: those of the module's name first, and those of its package."""
    folder, _, name = file.partition("/")[2].rpartition("/")
    chosen = ["tests/" + each for each in TESTS.get(folder, [folder])]
    own = [
        each.relative_to(ROOT).as_posix()
        for place in chosen
        for each in pathlib.Path(ROOT, place).rglob("test_" + name)
    ]
    return own + [each for each in chosen if pathlib.Path(ROOT, each).exists()]


def _notice(copy, paths):
    """Whether quick tests fail in a copy of the checkout; None if there are none."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-m", "not slow and not proof"]
    environ = dict(os.environ, PYTHONPATH=str(copy), PYTHONDONTWRITEBYTECODE="1")
    try:
        done = subprocess.run(
            [*command, "-p", "no:cacheprovider", *paths],
            cwd=str(copy),
            env=environ,
            timeout=_LIMIT,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        return True
    return None if done.returncode == 5 else done.returncode != 0


def _is_noticed(copy, mutant):
    """Whether the quick tests of a mutant's package fail on it, one file of them after another."""
    target = pathlib.Path(copy, mutant.file)
    whole = target.read_text("utf-8")
    target.write_text(broken(mutant), "utf-8")
    try:
        return any(_notice(copy, [path]) for path in tests_of(mutant.file))
    finally:
        target.write_text(whole, "utf-8")


def drawn(place, each, draw):
    """Some `Mutant` of a package or file."""
    every = [mutant for file in files(place) for mutant in mutants(file)]
    return draw.sample(every, min(each, len(every)))


def main(argv=None):
    """Returns 1 if more survived than may, else 0."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("places", nargs="*", metavar="PACKAGE|FILE")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--each", type=int, default=2)
    args = parser.parse_args(argv)
    draw = random.Random(args.seed)
    chosen = [drawn(place, args.each, draw) for place in args.places or packages()]
    survived, total = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder, "checkout")
        for name in _COPIED:
            shutil.copytree(os.path.join(ROOT, name), str(copy / name))
        for path in pathlib.Path(ROOT).iterdir():
            if path.is_file():
                shutil.copy(str(path), str(copy))
        for mutant in sum(chosen, []):
            noticed = _is_noticed(copy, mutant)
            total, survived = total + 1, survived + (not noticed)
            words = "killed" if noticed else "survived"
            print("%s: %s:%d %s" % (words, mutant.file, mutant.line, mutant.change), flush=True)
    print("killed %d of %d" % (total - survived, total))
    return int(100 * survived > _BOUND * total)


if __name__ == "__main__":
    sys.exit(main())
