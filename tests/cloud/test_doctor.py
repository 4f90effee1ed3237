"""``tpudist doctor --tpu NAME``: the TPU's state and runtime, and setting it, against a server."""

import json

import pytest

from tests.cloud import server
from tests.cloud.server import node
from tpudist import cli
from tpudist.tfcompat import versions
from tpudist.tools.doctor import environment, look

pytest.importorskip("googleapiclient", reason='pip install ".[test-cloud]" brings it')

HERE = ".".join(map(str, versions.TF.release[:2]))
LOOK_AT = environment.look_at
WHERE = ["--zone", server.ZONE, "--project", server.PROJECT]


@pytest.fixture
def doctor(google, monkeypatch, capfd):
    """(exit code, standard output) of the doctor, beside a TensorFlow that is not looked at."""
    monkeypatch.setattr(
        "tpudist.tools.doctor.environment.probe_tensorflow",
        lambda **_: {"version": str(versions.TF)},
    )

    # Where a test does not ask for a process of its own, that is spared.
    monkeypatch.setattr("tpudist.tools.doctor.environment.look_at", look.seen)

    def ask(*arguments):
        code = cli.main(["doctor", "--tpu"] + list(arguments))
        return code, capfd.readouterr().out

    return ask


def test_a_healthy_tpu(google, doctor):
    google(node(tensorflow=HERE + ".0", health="HEALTHY", hosts=4, type="v3-32"))
    _, text = doctor("t", *WHERE)
    assert "t (zone us-central1-b, project tests): READY, health HEALTHY" in text
    assert "v3-32 (v3:4x4, 32 devices on 4 hosts), at 10.1.2.3:8470, 10.1.2.4:8470" in text
    assert "runtime %s.0" % HERE in text
    assert "TPU         none" not in text and "TPU         asked for: t\n" in text


@pytest.mark.slow
def test_json_of_a_process_of_its_own(google, doctor, monkeypatch):
    monkeypatch.setattr("tpudist.tools.doctor.environment.look_at", LOOK_AT)
    google(node("PREEMPTED", symptoms=[{"symptomType": "LOW_MEMORY"}]))
    code, text = doctor("t", "--json", *WHERE)
    report = json.loads(text)
    assert code == 1
    assert report["tpu"]["looked"]["node"]["state"] == "PREEMPTED"
    (finding,) = [each for each in report["findings"] if each["check"] == "tpu_cannot_be_used"]
    assert "symptoms: LOW_MEMORY" in finding["seen"]


def test_configure_sets_the_version(google, doctor):
    script = google(node(tensorflow="1.1.0", health="HEALTHY"), runtime="1.1.0")
    code, text = doctor("t", "--configure", *WHERE)
    assert set(script.configured) == {HERE + ".0"}
    assert "runtime set to TensorFlow %s.0" % HERE in text
    assert "TPU runtime 1.1.0" not in text


def test_without_configure_it_tells(google, doctor):
    script = google(node(tensorflow="1.1.0", health="HEALTHY"), runtime="1.1.0")
    code, text = doctor("t", *WHERE)
    assert (code, script.configured) == (1, [])
    assert "PROBLEM  TensorFlow %s and TPU runtime 1.1.0" % versions.TF in text
    assert "tpudist doctor --tpu t --configure" in text


def test_the_image_of_a_tpu_vm_is_not_set(google, doctor):
    script = google(node(version=2, tensorflow="1.1.0"))
    _, text = doctor("t", "--configure", *WHERE)
    assert script.configured == []
    assert "gcloud compute tpus tpu-vm create t --version=tpu-vm-tf-%s.0" % HERE in text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--configure"], "tpudist doctor --tpu NAME --configure"),
        (["--zone", server.ZONE], "tpudist doctor --tpu NAME --zone"),
        (["--project", server.PROJECT], "tpudist doctor --tpu NAME --project"),
        (["--tpu", ""], "no TPU has an empty name"),
    ],
)
def test_what_needs_a_name(arguments, words, capsys):
    assert cli.main(["doctor"] + arguments) == 2
    assert words in capsys.readouterr().err
