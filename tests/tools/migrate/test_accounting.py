"""No silence: each legacy name of a file is rewritten, left, or something else's for certain.

The names are counted here by Python's own parser, without the codemod's.
"""

import ast
import re

import pytest

from tests.tools.migrate import harness, test_lines, test_programs, test_properties
from tpudist.surfaces.eras import names as era_names
from tpudist.tools.migrate import rules
from tpudist.tools.migrate.use import STEPS

hypothesis = test_properties.hypothesis


def tables(target):
    """(members, dotted names below tf) that are legacy on the way to a target."""
    steps = list(STEPS)[: list(STEPS).index(target) + 1]
    keys = {key for rule in rules.load() if rule.step in steps for key in rule.uses}
    return (
        {name for kind, name in keys if kind != "tf"},
        {name for kind, name in keys if kind == "tf" and not name.endswith("*")},
    )


def legacy_names(text, target):
    """(line, name) of every legacy name in a text."""
    members, dotted_names = tables(target)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Attribute):
            dotted = ast.unparse(node) if hasattr(ast, "unparse") else ""
            root, _, below = dotted.partition(".")
            below = era_names.without_compat(below)
            if node.attr in members:
                yield node.lineno, node.attr
            elif root in ("tf", "tensorflow") and (
                below in dotted_names or below.startswith("contrib.")
            ):
                yield node.lineno, node.attr
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("getattr", "hasattr"):
            for each in node.args[1:2]:
                if isinstance(each, ast.Constant) and each.value in members:
                    yield each.lineno, each.value


def unaccounted(text, target, folder, name="a.py"):
    """The legacy names of a text that nothing is said of, and all that were counted."""
    harness.put(folder, {name: text})
    result = harness.results(folder, target).get(name)
    counted = sorted(set(legacy_names(text, target)))
    if result is None:  # it names no TensorFlow, and nothing that strategies alone have
        return [each for each in counted if "_" in each[1]], counted
    assert not result.refused
    if any(use.rule == "estimators" for use in result.left):
        return [], counted  # it keeps all of them
    said = {}
    for use in list(result.rewritten) + result.left:
        said.setdefault(use.line, []).append(use.seen)
    for use in result.others:
        said.setdefault(use.line, []).append(use.rule)
    words = {line: set(re.findall(r"\w+", " ".join(seen))) for line, seen in said.items()}
    return [each for each in counted if each[1] not in words.get(each[0], ())], counted


@pytest.mark.parametrize("corpus", test_programs.CORPORA)
def test_every_name_of_the_corpus_has_an_outcome(corpus, tmp_path):
    missing = {}
    for number, case in enumerate(harness.programs(corpus)):
        folder = tmp_path / str(number)
        harness.put(folder, {name: both[0] for name, both in case.files.items()})
        for path, texts in case.files.items():
            if not case.options and path.endswith(".py") and case.to != "contrib":
                missing[case.name, path] = unaccounted(texts[0], case.to, folder, path)[0]
    assert {place: names for place, names in missing.items() if names} == {}


@pytest.mark.parametrize("name", sorted(test_lines.CORPORA))
def test_every_name_of_the_lines_has_an_outcome(name, tmp_path):
    before, _, lines = harness.lines(name)
    for index, line in enumerate(lines):
        text = before + line.before + "\n"
        folder = tmp_path / str(index)
        assert unaccounted(text, test_lines.CORPORA[name], folder)[0] == [], line.before


@test_properties.SETTINGS
@hypothesis.given(
    test_properties.statements,
    test_properties.st.booleans(),
    test_properties.st.sampled_from(["2.0", "2.2", "latest"]),
)
def test_every_name_of_a_random_program_has_an_outcome(tmp_path_factory, parts, eager, target):
    text = test_properties.program(parts, eager)
    missing, _ = unaccounted(text, target, tmp_path_factory.mktemp("random"))
    assert missing == []


#: Where a strategy comes from, in ways that cannot be followed to its end.
SOURCES = [
    "strategy = library.make()",
    "strategy = config.strategy",
    "strategy = getattr(config, 'strategy')",
    "strategy = dict(a=library.make())['a']",
    "strategy = next(library.all())",
    "strategy = copy.copy(library.make())",
    "strategy = Settings(library.make(), 1).first",
    "strategy, other = library.pair()",
    "strategy = vars(config)['strategy']",
    "strategy = [each for each in library.all()][0]",
    "strategy = library.make() if flag else None",
    "strategy = functools.partial(library.make)()",
]


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("member", ["experimental_run_v2", "unwrap", "num_towers"])
def test_what_cannot_be_told_is_told(source, member, tmp_path):
    text = (
        "import collections, copy, functools\nimport tensorflow as tf\nimport library\n"
        "Settings = collections.namedtuple('Settings', 'first second')\n"
        "%s\nstrategy.%s(f)\n" % (source, member)
    )
    harness.put(tmp_path, {"a.py": text})
    assert len(harness.results(tmp_path, "2.2")["a.py"].left) == 1
