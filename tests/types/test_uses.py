"""What mypy and pyright say of right and wrong uses: exactly what is written down."""

import os
import re

import pytest

from tests.types import checkers

#: The rules of what TensorFlow does not tell.
UNTOLD = re.compile(r"\[(untyped-decorator|reportUnknown\w+)\]$")


@pytest.fixture(scope="module", params=sorted(checkers.CHECKERS))
def said(request, tmp_path_factory):
    """(a checker's name, what it says of each file)."""
    folder = str(tmp_path_factory.mktemp(request.param))
    return request.param, checkers.CHECKERS[request.param](folder)


@pytest.mark.slow
@pytest.mark.parametrize("name", checkers.names())
def test_exactly_what_is_expected(said, name):
    checker, found = said
    with open(checkers.expected(checker, name), encoding="utf-8") as file:
        expected = file.read()
    assert checkers.shown(name, found[name]) == expected, "python -m tests.types.checkers"


@pytest.mark.slow
@pytest.mark.parametrize("name", checkers.names())
def test_every_wrong_use_is_seen_and_no_right_one(said, name):
    """What stands below the comment "Wrong." is an error in each line, above it none is.

    But for what TensorFlow does not tell a strict checker: the type of a decorator and
    of other names of its own.
    """
    _, found = said
    with open(os.path.join(checkers.USES, name), encoding="utf-8") as file:
        lines = file.read().splitlines()
    wrong = range(lines.index("# Wrong.") + 2, len(lines) + 1)
    errors = {
        line for line, text in found[name] if text.startswith("error") and not UNTOLD.search(text)
    }
    assert errors == set(wrong)
