"""Law 10: errors have three parts: what was seen, why it cannot work, what to type instead."""

import ast
import inspect

import pytest

from tests.laws import source
from tpudist import errors

PARTS = ("seen", "why", "instead")


def error_names(trees):
    """Names of TpudistError and of every class below it, wherever defined."""
    names = {
        name
        for name, each in vars(errors).items()
        if inspect.isclass(each) and issubclass(each, errors.TpudistError)
    }
    classes = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    for _ in classes:  # until nothing is added: a subclass may come first
        names |= {
            node.name
            for node in classes
            if any(
                source.chain(base)[-1:] and source.chain(base)[-1] in names for base in node.bases
            )
        }
    return names


def incomplete(tree, names):
    """(line, error) of each error made with fewer than three non-empty parts.

    A class that writes its own ``__init__`` passes them on there.
    """
    own = {
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        and node.name in names
        and any(getattr(each, "name", "") == "__init__" for each in node.body)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            made, parts = _made(node)
            if made in names - own and not _complete(parts, node.keywords):
                yield node.lineno, made
        if isinstance(node, ast.Raise):
            bare = source.chain(node.exc)[-1:] if node.exc else []
            if bare and bare[0] in names:
                yield node.lineno, "%s without any part" % bare[0]


def _made(call):
    """(class name, positional parts) of ``Error(...)`` and ``Error.__init__(self, ...)``."""
    names = source.chain(call.func) or [""]
    if names[-1] == "__init__" and len(names) > 1:
        return names[-2], call.args[1:]
    return names[-1], call.args


def _complete(positional, keywords):
    parts = dict(zip(PARTS, positional))
    parts.update((each.arg, each.value) for each in keywords)
    return set(parts) == set(PARTS) and not any(
        _empty(part) or isinstance(part, ast.Starred) for part in parts.values()
    )


def _empty(part):
    try:
        return not (ast.literal_eval(part) or "").strip()
    except ValueError:  # not a literal: written out at run time
        return False


NAMES = error_names([])


@pytest.mark.parametrize(
    "code",
    [
        "raise TopologyError('seen')",
        "raise TopologyError('seen', 'why')",
        "raise TopologyError('seen', 'why', '')",
        "raise TopologyError('seen', ' ', 'instead')",
        "raise errors.TopologyError('seen', why='why')",
        "raise TopologyError",
        "raise TopologyError(*parts)",
        "raise TopologyError('seen', 'why', None)",
        "error = ContextError('seen', 'why')",
        "class ContextError(TpudistError):\n  def __init__(self):\n    "
        "TpudistError.__init__(self, 'seen', 'why')",
    ],
)
def test_rule_sees(code):
    assert list(incomplete(ast.parse(code), NAMES))


@pytest.mark.parametrize(
    "code",
    [
        "raise TopologyError('seen %d' % n, 'why', 'instead')",
        "raise errors.TopologyError('seen', why=because(), instead='x')",
        "raise ValueError('one part')",
        "raise",
        "raise error",
        "except_me = TopologyError",
        "class ContextError(TpudistError):\n  def __init__(self, x):\n    "
        "TpudistError.__init__(self, x, 'why', 'instead')\nraise ContextError(1)",
    ],
)
def test_rule_lets_pass(code):
    assert not list(incomplete(ast.parse(code), NAMES))


def test_rule_knows_subclasses_of_other_modules():
    tree = ast.parse("class B(A): pass\nclass A(TopologyError): pass\nclass C(ValueError): pass")
    assert {"A", "B"} <= error_names([tree]) and "C" not in error_names([tree])


def test_every_error_has_three_parts():
    trees = {path: source.tree(path) for path in source.package()}
    names = error_names(trees.values())
    source.hold(
        [
            "%s:%d %s" % (path, line, what)
            for path, tree in trees.items()
            for line, what in incomplete(tree, names)
        ]
    )


def test_the_message_carries_all_three():
    message = str(errors.TopologyError("9 cores", "the slice has 8", "num_cores=8"))
    assert message == "9 cores. the slice has 8. Instead: num_cores=8"


@pytest.mark.parametrize("name", sorted(NAMES - {"TpudistError"}))
def test_each_error_is_also_a_builtin(name):
    bases = getattr(errors, name).__mro__
    assert any(
        base.__module__ == "builtins" and base not in (Exception, BaseException, object)
        for base in bases
    )
