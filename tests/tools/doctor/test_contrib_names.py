"""What the doctor says of the names of tf.contrib in a user's files."""

import json

import pytest

from tests.tools.doctor.machines import machine
from tests.tools.doctor.test_report import answer
from tpudist import cli, surfaces
from tpudist.errors import ArgumentError
from tpudist.surfaces import leads
from tpudist.tools.doctor import checks, contrib_names

PROGRAM = """\
import tensorflow as tf
from tensorflow.contrib import slim, data
from tensorflow.contrib.training import HParams
layers = tf.contrib.layers
x = slim.conv2d(layers.l2_regularizer(0.1), tf.contrib.crf.crf_decode(HParams()))
d = tf.data.Dataset.range(3).apply(data.map_and_batch(f, 2))
y = helpers.contrib.slim, "tf.contrib.slim"
"""

#: {(line, name): what is said of it}.
SAID = {
    (2, "contrib.slim"): "tf_slim, which is not installed",
    (2, "contrib.data"): "its names lead elsewhere",
    (3, "contrib.training.HParams"): "tpudist.legacy.contrib_ports.HParams",
    (4, "contrib.layers"): "tf_slim.layers, which is not installed",
    (5, "contrib.slim.conv2d"): "tf_slim.conv2d, which is not installed",
    (5, "contrib.layers.l2_regularizer"): "tf_slim.l2_regularizer, which is not installed",
    (5, "contrib.crf.crf_decode"): "nobody has it: " + surfaces.GONE["contrib.crf"],
    (6, "contrib.data.map_and_batch"): "tensorflow.compat.v1.data.experimental.map_and_batch",
}


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "train.py"
    path.write_text(PROGRAM)
    return str(path)


def test_an_attribute_goes_with_its_class():
    use = contrib_names.use("a.py", 1, "contrib.tpu.InputPipelineConfig.PER_HOST_V2")
    of_class = contrib_names.use("a.py", 1, "contrib.tpu.InputPipelineConfig")
    assert use.leads_to == of_class.leads_to + ".PER_HOST_V2" and use.kind == of_class.kind
    assert contrib_names.use("a.py", 1, "contrib.crf.Nope.NOPE").kind == "gone"


def asked(path, *args, **kwargs):
    return machine(*args, contrib=contrib_names.of_paths([path]), **kwargs)


def test_each_name_with_its_place_and_where_it_leads(program):
    code, text = answer(asked(program))
    lines = ["  %s:%d: tf.%s: %s" % (program, *key, said) for key, said in SAID.items()]
    assert [line for line in text.splitlines() if ": tf.contrib." in line[:200]] == lines
    assert code == 1


def test_what_is_missing_is_a_problem_once_a_package(program):
    found = {each.check: each for each in checks.diagnose(asked(program))}
    missing, gone = found["contrib_packages_missing"], found["contrib_names_gone"]
    assert missing.level == "problem" and "tpudist[legacy]" in missing.instead
    assert "4 names" in missing.seen and "train.py:2)" in missing.seen
    assert gone.level == "note" and "train.py:5)" in gone.seen


def test_nothing_is_missing_where_the_package_is(program):
    env = asked(program, distributions={"tf-slim": "1.1.0"})
    code, text = answer(env)
    assert code == 0 and "not installed" not in text.partition("Names of")[2].partition("NOTE")[0]


@pytest.mark.parametrize("release", ["1.13.2", "1.15.0"])
def test_tensorflow_1_has_them_itself(program, release):
    code, text = answer(asked(program, release), as_json=True)
    told = json.loads(text)["contrib"]
    assert code == 0 and {each["kind"] for each in told} == {"native"}
    assert told[4]["leads_to"] == "tensorflow.contrib.slim.conv2d"


def test_a_folder_is_read_and_files_without_such_names_are_told(tmp_path, program):
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "more.py").write_text(
        "from tensorflow.contrib.opt import AdamWOptimizer\n"
    )
    (tmp_path / "deep" / "none.py").write_text("import tensorflow as tf\ntf.function\n")
    found = contrib_names.of_paths([str(tmp_path)])
    assert [use.line for use in found if use.path.endswith("more.py")] == [1]
    _, text = answer(asked(str(tmp_path / "deep" / "none.py")))
    assert "No name of tf.contrib in these files" in text


@pytest.mark.parametrize("text", ["print 'x'\n", None])
def test_what_cannot_be_read_is_an_error(tmp_path, text):
    path = tmp_path / "a.py"
    if text:
        path.write_text(text)
    with pytest.raises(ArgumentError, match="a.py"):
        contrib_names.of_paths([str(path)])


def test_command(program, capsys, monkeypatch):
    probe = machine().probe
    monkeypatch.setattr("tpudist.tools.doctor.environment.probe_tensorflow", lambda **_: probe)
    cli.main(["doctor", program])
    assert "train.py:3: tf.contrib.training.HParams" in capsys.readouterr().out


def test_the_doctor_the_codemod_and_the_drop_in_read_one_table(tmp_path):
    """tests/dropin and tests/tools/migrate/test_contrib_leads.py hold the other two to it."""
    names = [
        "%s.%s" % (module, name)
        for module, names in sorted(surfaces.CONTRIB_NAMES.items())
        for name in sorted(names)
    ]
    path = tmp_path / "every.py"
    path.write_text("import tensorflow as tf\n" + "".join("tf.%s\n" % name for name in names))
    uses = contrib_names.of_paths([str(path)])
    assert [use.name for use in uses] == names
    for use in uses:
        assert (use.leads_to, use.package) == leads.lead(use.name)[1:3]
        written = leads.successor(use.name)
        assert written is None or written.target == use.leads_to
        assert bool(use.leads_to) != bool(use.instead) or use.kind == "module"


def test_gan_leads_to_a_package_that_needs_an_estimator(tmp_path):
    path = tmp_path / "gan.py"
    path.write_text("import tensorflow as tf\nmodel = tf.contrib.gan.gan_model(g, d, x, y)\n")
    found = {each.check: each for each in checks.diagnose(asked(str(path)))}
    missing = found["contrib_packages_missing"]
    assert "tensorflow_gan is not installed" in missing.seen
    assert "pip install tensorflow_gan" in missing.instead and "[legacy]" not in missing.instead
    have = {"tensorflow-gan": "2.1.0"}
    found = {
        each.check: each for each in checks.diagnose(asked(str(path), "2.21.0", distributions=have))
    }
    assert "contrib_packages_missing" not in found
