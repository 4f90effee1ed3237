"""The corpus of single statements: what becomes of each, and what stays as it is."""

import pytest

from tests.tools.migrate import harness

CORPORA = {"lines_2_0": "2.0", "lines_2_2": "2.2", "lines_latest": "latest"}


def params(name):
    return [
        pytest.param(name, each, id=each.before.replace("\n", " ; ")[:90])
        for each in harness.lines(name)[2]
    ]


@pytest.mark.parametrize(("name", "line"), [each for name in CORPORA for each in params(name)])
def test_line(tmp_path, name, line):
    before, after, _ = harness.lines(name)
    texts, left = harness.migrated(
        tmp_path, {"train.py": before + line.before + "\n"}, CORPORA[name]
    )
    assert texts["train.py"] == after + line.after + "\n"
    assert left == ({line.left} if line.left else set())


def test_many_cases_assert_that_nothing_changes():
    every = [each for name in CORPORA for each in harness.lines(name)[2]]
    same = [each for each in every if each.before == each.after]
    assert len(every) >= 150
    assert len(same) >= 0.4 * len(every), len(same) / len(every)


def test_each_rule_has_a_case():
    from tpudist.tools.migrate import rules

    every = [each for name in CORPORA for each in harness.lines(name)[2]]
    changed = " ".join(each.before for each in every if each.before != each.after)
    told = {each.left for each in every}
    for rule in [each for each in rules.load() if each.step != "all"]:
        names = [name.rpartition(".")[2] for _, name in rule.uses]
        assert rule.name in told | {
            "estimators",
            "changed-defaults",
            "frozen-batch-norm",
            "keras-2",
            "keras-losses",
            "old-order",
            "keras-tensors",
            "sessions",
            "run-steps-on-dataset",
            "first-generation",
        } or any("." + name in changed for name in names), rule.name
