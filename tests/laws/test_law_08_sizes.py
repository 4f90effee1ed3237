"""Law 8: files of 500 lines at most, functions of 60 at most (docstrings not counted)."""

import ast

import pytest

from tests.laws import source

FILE, FUNCTION = 500, 60


def long_functions(tree):
    """(line, "name: n lines") of each function that is too long."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            length = source.last_line(node) - node.lineno + 1 - source.docstring_lines(node)
            if length > FUNCTION:
                yield node.lineno, "%s: %d lines" % (node.name, length)


def everything():
    return source.files("tpudist", "tests", "examples", "compat")


@pytest.mark.parametrize(
    ("lines", "docstring", "sees"),
    [(FUNCTION - 1, 0, False), (FUNCTION, 0, True), (FUNCTION - 1, 9, False), (FUNCTION, 9, True)],
)
def test_rule_counts_what_is_not_docstring(lines, docstring, sees):
    text = "def f():\n"
    if docstring:
        text += '    """' + "\n" * (docstring - 1) + '"""\n'
    assert bool(list(long_functions(ast.parse(text + "    pass\n" * lines)))) == sees


def test_files_are_short():
    lengths = {path: source.text(path).count("\n") for path in everything()}
    assert {path: length for path, length in lengths.items() if length > FILE} == {}


def test_functions_are_short():
    source.hold(source.offences(long_functions, everything()))
