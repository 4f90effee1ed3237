"""``tpudist doctor --tpu NAME``: the TPU's state and runtime, and setting it, against a server."""

import pytest

from tests.cloud import server
from tests.cloud.server import node
from tpudist import cli
from tpudist.tfcompat import versions

pytest.importorskip("googleapiclient", reason='pip install ".[test-cloud]" brings it')

HERE = ".".join(map(str, versions.TF.release[:2]))
WHERE = ["--zone", server.ZONE, "--project", server.PROJECT]


@pytest.fixture
def doctor(google, capfd):
    """(exit code, what is printed) of the doctor."""

    def ask(*arguments):
        code = cli.main(["doctor", *arguments])
        return code, "".join(capfd.readouterr())

    return ask


def test_a_healthy_tpu(google, doctor):
    google(node(tensorflow=HERE + ".0", health="HEALTHY", hosts=4, type="v3-32"))
    code, text = doctor("--tpu", "t", *WHERE)
    assert code == 0
    assert "'t' (zone us-central1-b, project tests): READY, health HEALTHY, v3-32" in text
    assert "runtime %s.0, at 10.1.2.3:8470, 10.1.2.4:8470" % HERE in text


def test_what_cannot_be_used_says_why(google, doctor):
    google(node("PREEMPTED", symptoms=[{"symptomType": "LOW_MEMORY"}]))
    code, text = doctor("--tpu", "t", *WHERE)
    assert code == 2 and "PREEMPTED" in text and "symptoms: LOW_MEMORY" in text


def test_configure_sets_the_version(google, doctor):
    script = google(node(tensorflow="1.1.0", health="HEALTHY"), runtime="1.1.0")
    code, text = doctor("--tpu", "t", "--configure", *WHERE)
    assert set(script.configured) == {HERE + ".0"}
    assert "runtime set to TensorFlow %s.0" % HERE in text


def test_the_image_of_a_tpu_vm_is_not_set(google, doctor):
    script = google(node(version=2, tensorflow="1.1.0"))
    code, text = doctor("--tpu", "t", "--configure", *WHERE)
    assert (code, script.configured) == (2, [])
    assert "gcloud compute tpus tpu-vm create t --version=tpu-vm-tf-%s.0" % HERE in text


@pytest.mark.parametrize("arguments", [["--configure"], ["--zone", "z"], ["--tpu", "local"]])
def test_what_needs_a_name_of_google_cloud(arguments, doctor):
    code, text = doctor(*arguments)
    assert code == 2 and "Instead: tpudist doctor" in text
