"""What has no legacy word is never parsed: looking at it too changes nothing and tells nothing."""

import pytest

from tests.tools.migrate import harness, test_carriers, test_lines, test_programs
from tpudist import surfaces
from tpudist.tools.migrate import rules
from tpudist.tools.migrate.resolution import legacy_words

pytestmark = pytest.mark.slow

TF = "import tensorflow as tf\n"
V1 = "import tensorflow.compat.v1 as tf\n"
PROGRAMS = {case.name: {name: both[0] for name, both in case.files.items()}
            for case in test_programs.CASES if not case.options}  # fmt: skip
for _way, _texts in test_carriers.PROGRAMS.items():
    PROGRAMS["carriers: " + _way] = {name: TF + text for name, text in _texts.items()}
for _name in test_lines.CORPORA:
    _preamble, _, _lines = harness.lines(_name)
    PROGRAMS["lines: " + _name] = {
        "a%d.py" % number: _preamble + line.before for number, line in enumerate(_lines)
    }


@pytest.mark.parametrize(
    "text, matters",
    [
        ("tf.app.run()\ntf.logging.info(tf.gfile.Open('a'))\n", False),
        ("flags = tf.flags\nflags.DEFINE_string('a', '', '')\nreuse = tf.AUTO_REUSE\n", False),
        ("from tensorflow import gfile\ngfile.Open('a')\n", True),
        ("import tensorflow as t\nt.app.run()\n", True),
        ("tensorflow.app.run()\n", True),
        ("x.tf.app.run()\n", True),
        ("run(tf)\ntf.app.run()\n", True),
        ("tf = other\ntf.app.run()\n", True),
        ("for tf in each:\n  tf.app.run()\n", True),
        ("tf.Session()\n", True),
        ("tf.train.MonitoredTrainingSession()\n", True),
        ("tf.disable_v2_behavior()\n", True),
        ("tf.layers.dense(x, 1)\n", True),
        ("tf.estimator.Estimator(f)\n", True),
    ],
)
def test_names_that_compat_v1_has_are_not_legacy(text, matters):
    assert legacy_words.may_matter((V1 + text).encode()) == matters
    assert legacy_words.may_matter((TF + text).encode())


@pytest.mark.parametrize(
    "text, matters",
    [
        ("# Each shard of num_shards.\nshards[0] = f(x, shard=1)\n", False),
        ("tpu.shard(f)\n", True),
        ("getattr(tpu, 'shard')\n", True),
        ("from tpu import rewrite, shard\n", True),
        ("from tpu import (\n    rewrite,\n    shard,\n)\n", True),
        ("from tpu import shard as s\n", True),
    ],
)
def test_shards_are_not_the_function(text, matters):
    assert legacy_words.may_matter(text.encode()) == matters


#: Members that strategies of today have too, and optimizers whose arguments alone are gone.
_OF_TODAY = {("strategy", "reduce"), *(("tf", name) for name in surfaces.KERAS_OPTIMIZERS)}
_USES = {key for rule in rules.load() for key in rule.uses if key[0] in ("tf", "strategy")}


@pytest.mark.parametrize("key", sorted(_USES - _OF_TODAY), ids=" ".join)
def test_a_name_of_a_rule_is_legacy(key):
    of = {"tf": "tf.%s(1)\n", "strategy": "strategy.%s(x)\n"}
    assert legacy_words.may_matter((TF + of[key[0]] % key[1]).encode())


@pytest.mark.parametrize("head", [TF, V1], ids=["tensorflow", "compat.v1"])
@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_looking_at_every_file_is_the_same(name, head, tmp_path, monkeypatch):
    texts = {path: text.replace(TF, head) for path, text in PROGRAMS[name].items()}
    harness.put(tmp_path, texts)
    some = _outcomes(tmp_path)
    matters = legacy_words.may_matter
    monkeypatch.setattr(
        legacy_words, "may_matter", lambda raw: b"tensorflow" in raw or matters(raw)
    )
    assert _outcomes(tmp_path) == some


def _outcomes(folder):
    """{path: (new bytes, what is left)} of the files that change or of which something is told."""
    found = harness.results(folder, "latest")
    return {
        path: (each.after, each.left)
        for path, each in found.items()
        if not each.refused and (each.after != each.before or each.left)
    }
