"""One cause is one finding, with a count and the places; what its key means is explained."""

import json

import pytest

from tests.tools.migrate import harness
from tests.tools.migrate.harness import migrate
from tpudist import surfaces
from tpudist.tools.migrate import rules

FILES = {
    "a.py": "import tensorflow as tf\ntf.estimator.Estimator(f)\ntf.estimator.RunConfig()\n",
    "b.py": "from tensorflow import estimator\nestimator.ModeKeys.TRAIN\nx.fit_generator(y)\n",
    "c.py": "import tensorflow as tf\n" + "tf.estimator.Estimator(f)\n" * 20,
}


@pytest.fixture
def printed(tmp_path, monkeypatch, capsys):
    """What is printed of `FILES`."""
    harness.put(tmp_path, FILES)
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        assert migrate(".", "--to", "latest", "--keras", "3", *arguments) == 1
        return capsys.readouterr().out

    return run


def test_a_cause_is_two_lines_at_most(printed):
    lines = printed().splitlines()
    said = "a.py:2:1: gone-names: tf.estimator: not in every TensorFlow of today; "
    assert lines[0] == said + surfaces.GONE_TODAY["estimator"]
    assert lines[1:3] == [
        "    and 22 more places: 3, b.py:1, c.py:2, c.py:3, c.py:4, c.py:5, c.py:6, c.py:7, "
        "c.py:8, ...",
        "b.py:3:1: keras-members: x.fit_generator: Keras 3 has it no longer; "
        + surfaces.KERAS_MEMBERS["model", "fit_generator"],
    ]
    assert "24 left" in lines[3]


def test_json_has_all_places(printed):
    first, second = json.loads(printed("--report", "json"))["findings"]
    assert (first["key"], second["key"]) == ("gone-names", "keras-members")
    assert len(first["places"]) == 23 and first["places"][:2] == ["a.py:2:1", "a.py:3:1"]
    assert second["places"] == ["b.py:3:1"]
    assert first["said"].startswith("gone-names: tf.estimator: ")


#: {step: the corpus of lines with a head for it}.
HEADS = {"2.0": "lines_2_0", "2.2": "lines_2_2", "latest": "lines_latest"}
#: Rules whose example is right in a file of its own only, or told by another step as well.
OF_THEIR_OWN = ("first-generation", "sessions", "changed-names", "dataset-iterators", "keras-2")
#: Rules that ask which TensorFlow a file is of.
OF_THE_FILE = ("changed-defaults", "frozen-batch-norm")
EVERY = rules.load()


@pytest.mark.parametrize("key", EVERY, ids=[key.name for key in EVERY])
def test_every_key_is_explained(key):
    text = rules.explained(key.name)
    assert text.startswith("%s (to %s)\n\n%s" % (key.name, key.step, key.text))
    assert "https://" in text and ("\nType: " in text or "\n    -> " in text)


@pytest.mark.parametrize(
    "key",
    [key for key in EVERY if key.step != "all" and key.name not in OF_THEIR_OWN],
    ids=lambda key: key.name,
)
def test_an_example_is_what_migrate_does(tmp_path, key):
    said = rules.explained(key.name).split("\n    -> ")
    if len(said) == 1:
        assert key.name in ("run-steps-on-dataset", "graph-iterators", *OF_THE_FILE)
        return
    before, after = said[0].rpartition("\n    ")[2], said[1]
    head, head_after, _ = harness.lines(HEADS[key.step])
    texts, left = harness.migrated(tmp_path, {"a.py": head + before + "\n"}, key.step)
    if after == "it is reported":
        assert left == {key.name}
    else:
        assert texts["a.py"] == head_after + after + "\n" and not left
