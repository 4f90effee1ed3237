"""Migrating text, and the corpus of cases under ``cases/``."""

import ast
import collections
import os
import re
import sys

import pytest

if sys.version_info < (3, 8):
    pytest.skip("tpudist migrate runs on Python 3.8 and newer", allow_module_level=True)

from tpudist import cli
from tpudist.tools.migrate import engine as engines
from tpudist.tools.migrate import program as programs_lib
from tpudist.tools.migrate.resolution import codebase as codebases

#: A program of 2.0, a use in it, and one of something that is not told.
OLD = "from tpudist.v2_0 import tensorflow as tf\ns = tf.distribute.get_strategy()\n"
USE = "s.experimental_run_v2(fn)\n"
LEFT = "foo.experimental_run_v2(fn)\n"

CASES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cases")

Options = collections.namedtuple("Options", "to origin level report keras")
Line = collections.namedtuple("Line", "before after left")
Case = collections.namedtuple("Case", "name to files left why options")


def options(to, **changes):
    """Options of a run."""
    return Options(to, "auto", "full", "json", "3")._replace(**changes)


def results(folder, to, **changes):
    """{relative path: Result} of all files of a folder."""
    codebase = codebases.CodeBase([str(folder)])
    program = programs_lib.Program(codebase, changes.get("origin", "auto"))
    engine = engines.Engine(codebase, program, options(to, **changes))
    return {
        os.path.relpath(path, str(folder)).replace(os.sep, "/"): engine.migrate(path)
        for path in program.files
    }


def put(folder, files):
    """Writes {relative path: text} below a folder."""
    for name, text in files.items():
        path = os.path.join(str(folder), name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(text.encode("utf-8"))


def migrated(folder, files, to, **changes):
    """({path: new text}, {rules of uses that are left}) of a code base."""
    texts, left = outcome(folder, files, to, **changes)
    return texts, {use.rule for use in left}


def outcome(folder, files, to, **changes):
    """({path: new text}, [Use that is left, ...]) of a code base."""
    put(folder, files)
    found = results(folder, to, **changes)
    assert not [each.refused for each in found.values() if each.refused]
    texts = {
        name: found[name].after.decode("utf-8") if name in found else text
        for name, text in files.items()
    }
    return texts, [use for each in found.values() for use in each.left]


def lines(name):
    """(preamble before, preamble after, [Line, ...]) of ``cases/<name>.txt``.

    A line is ``before ==> after``, or ``before ===`` where nothing changes; a
    rule that leaves something stands behind ``#!``. ``\\n`` is a newline.
    """
    with open(os.path.join(CASES, name + ".txt"), encoding="utf-8") as file:
        before, after, body = re.split(r"^----\n", file.read(), flags=re.M)
    return (
        before,
        after,
        [
            line
            for each in body.splitlines()
            if each.strip() and not each.startswith("##")
            for line in [_line(each)]
            if _is_read(line.before)
        ],
    )


def _is_read(*texts):
    """Whether the Python that runs reads a case: ``:=`` came with 3.8, ``match`` with 3.10."""
    if sys.version_info >= (3, 10):
        return True  # it has to
    try:
        return bool([ast.parse(text) for text in texts])
    except SyntaxError:
        return False


def _line(text):
    text, _, left = text.partition("#!")
    text = text.rstrip().replace("\\n", "\n")
    if text.endswith("==="):
        before = after = text[:-3].rstrip()
    else:
        before, after = [part.strip() for part in text.split("==>")]
    return Line(before, after, left.strip())


def programs(name):
    """The `Case`s of ``cases/<name>.txt``: small code bases before and after.

    ``== name | to 2.0 | left rule | why words`` starts one, ``-- path`` a file,
    ``=> path`` what it becomes; a file without it stays as it is. `why` is in
    what is said of something that is left.
    """
    with open(os.path.join(CASES, name + ".txt"), encoding="utf-8") as file:
        parts = re.split(r"^== (.*)\n", file.read(), flags=re.M)[1:]
    cases = [_case(head, body) for head, body in zip(parts[::2], parts[1::2])]
    return [
        case
        for case in cases
        if _is_read(*[texts[0] for path, texts in case.files.items() if path.endswith(".py")])
    ]


def _case(head, body):
    name, *words = [each.strip() for each in head.split("|")]
    told = dict(each.split(" ", 1) for each in words)
    pieces = re.split(r"^(--|=>) (\S+)\n", body, flags=re.M)[1:]
    files = {}
    for kind, path, text in zip(pieces[::3], pieces[1::3], pieces[2::3]):
        text = text.rstrip("\n") + "\n"
        files[path] = (text, text) if kind == "--" else (files[path][0], text)
    changes = {key: told[key] for key in ("origin", "level") if key in told}
    return Case(
        name,
        told.get("to", "2.0"),
        files,
        set(told.get("left", "").split()),
        told.get("why", ""),
        changes,
    )


def said(use):
    """All that is said of a use that is left."""
    return "%s: %s; %s" % (use.seen, use.why, use.instead)


def migrate(tree, *arguments):
    """The exit code of ``tpudist migrate`` of a folder."""
    return cli.main(["migrate", str(tree)] + list(arguments))
