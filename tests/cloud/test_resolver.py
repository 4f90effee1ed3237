"""TPUClusterResolver of a TPU by its name, through TensorFlow's own clients, against a server."""

import pytest

from tests.cloud import server
from tests.cloud.server import CUT, GARBAGE, SLOW, node
from tpudist.cloud import waiting
from tpudist.errors import TPUAccessError, TpudistError, TPUNameError, TPUStateError
from tpudist.system import cluster, named_tpus
from tpudist.tfcompat import tpu, versions

pytest.importorskip("googleapiclient", reason='pip install ".[test-cloud]" brings it')

HERE = ".".join(map(str, versions.TF.release[:2]))


def resolver(**more):
    return cluster.TPUClusterResolver("t", **dict(zone=server.ZONE, project=server.PROJECT, **more))


def failure(function):
    error, spent = server.elapsed(function)
    assert isinstance(error, TpudistError), error
    assert error.seen and error.why and error.instead
    assert spent < 50  # of 60 that are allowed, or of 2
    return error


@pytest.mark.parametrize("version", [1, 2])
def test_hosts_come_from_the_api(google, version):
    google(node(version=version, hosts=4, type="v3-32"))
    found = resolver()
    assert found.cluster_spec().job_tasks("worker") == ["10.1.2.%d:8470" % i for i in (3, 4, 5, 6)]
    assert found.master() == "grpc://10.1.2.3:8470"


def test_a_task_of_several(google):
    google(node(hosts=4, type="v3-32"))
    assert resolver().master("worker", 2) == "grpc://10.1.2.5:8470"
    assert resolver().master(task_type="worker", task_index=3) == "grpc://10.1.2.6:8470"


class Broken:
    """A service that a program passes, with a fault of its own."""

    def projects(self):
        raise KeyError("no such resource")


def test_a_fault_that_has_no_rule_is_quoted(google):
    google()
    error = failure(resolver(service=Broken()).cluster_spec)
    assert isinstance(error, TPUNameError)
    assert_words(error, "Could not lookup TPU metadata: TPU 't' in zone.*KeyError: 'no such res")


def test_zone_and_project_come_from_the_metadata_service(google):
    script = google()
    cluster.TPUClusterResolver("t").cluster_spec()
    assert any("/projects/tests/locations/us-central1-b/nodes/t" in each for each in script.asked)


def test_reply_of_before_there_were_endpoints(google):
    reply = node()
    del reply["networkEndpoints"]
    google(reply)
    assert resolver().cluster_spec().job_tasks("worker") == ["10.1.2.3:8470"]


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ("CREATING", "being made.*TPUDIST_TPU_TIMEOUT=1200"),
        ("STARTING", "starting"),
        ("STOPPED", "gcloud compute tpus start t --zone=us-central1-b"),
        ("PREEMPTED", "Google took it back.*gcloud compute tpus delete t.*checkpoint"),
        ("TERMINATED", "24 hours"),
        ("HIDDEN", "hidden"),
        ("BROODING", "no such state"),
    ],
)
def test_states(google, state, words):
    google(node(state))
    error = failure(resolver().master)
    assert isinstance(error, TPUStateError) and isinstance(error, RuntimeError)
    assert "TPU 't' (zone us-central1-b, project tests) is " + state in error.seen
    assert_words(error, words)


def assert_words(error, words):
    __tracebackhide__ = True
    with pytest.raises(type(error), match="(?s)" + words):
        raise error


@pytest.mark.parametrize(
    ("health", "words"),
    [
        ("UNHEALTHY_TENSORFLOW", "out of memory.*gcloud compute tpus stop t"),
        ("UNHEALTHY_MAINTENANCE", "maintenance"),
        ("TIMEOUT", "does not answer"),
    ],
)
def test_health_with_symptoms(google, health, words):
    symptom = {
        "symptomType": "HBM_OUT_OF_MEMORY",
        "workerId": "2",
        "createTime": "2020-01-01T00:00:00.0Z",
        "details": "16.1G of 16G",
    }
    google(node(health=health, healthDescription="It is sick.", symptoms=[symptom]))
    error = failure(resolver().cluster_spec)
    assert "READY, its health %s (It is sick.)" % health in error.seen
    assert "HBM_OUT_OF_MEMORY on worker 2 at 2020-01-01T00:00:00.0Z (16.1G of 16G)" in error.seen
    assert_words(error, words)


@pytest.mark.parametrize(
    ("reply", "kind", "words"),
    [
        (401, TPUAccessError, "gcloud auth application-default login"),
        ((403, "Permission denied on tpu.nodes.get"), TPUAccessError, "roles/tpu.viewer"),
        ((403, "Cloud TPU API is disabled"), TPUAccessError, "gcloud services enable"),
        (400, TPUAccessError, "project's ID"),
        (404, TPUNameError, "gcloud compute tpus list"),
        (429, TPUAccessError, "quota"),
        (500, TPUAccessError, "fault of its own"),
        (503, TPUAccessError, "fault of its own"),
        (CUT, TPUAccessError, "cannot be reached"),
        (GARBAGE, TPUAccessError, "answers in its place"),
        (SLOW, TPUAccessError, "no answer within"),
        ({"unexpected": 1}, TPUAccessError, "neither a state nor an address"),
        (node(symptoms=[3]), TPUAccessError, "documented form"),
    ],
)
def test_api_that_does_not_say(google, hurry, reply, kind, words):
    google(reply)
    error = failure(resolver().cluster_spec)
    assert isinstance(error, kind) and isinstance(error, ValueError)
    assert_words(error, words)


@pytest.mark.skipif(not versions.RESOLVER_HAS_CLIENT, reason="before 2.2 a reply needs no state")
def test_a_reply_without_a_state(google):
    reply = node()
    del reply["state"]
    google(reply)
    assert isinstance(failure(resolver().cluster_spec), TPUStateError)


def test_wrong_zone_and_project(google):
    google()
    for wrong in (dict(zone="us-east1-d"), dict(project="other")):
        asked = dict(dict(zone=server.ZONE, project=server.PROJECT), **wrong)
        error = failure(cluster.TPUClusterResolver("t", **asked).cluster_spec)
        assert isinstance(error, TPUNameError)
        assert "zone %(zone)s of project %(project)s" % asked in error.seen
    assert "was not found" in error.seen


def test_what_passes_is_asked_again(google):
    google(503, CUT, node())
    assert resolver().cluster_spec().job_tasks("worker") == ["10.1.2.3:8470"]


def test_no_credentials(google, monkeypatch, tmp_path):
    google()
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "none.json"))
    error = failure(resolver().cluster_spec)
    assert isinstance(error, TPUAccessError)
    assert_words(error, "no Google credentials.*gcloud auth application-default login")


@pytest.mark.parametrize("metadata", [False, CUT, SLOW])
def test_no_metadata_service(google, hurry, metadata):
    google(metadata=metadata)
    error = failure(lambda: cluster.TPUClusterResolver("t"))
    assert_words(error, r"zone=ZONE, project=PROJECT")


def test_no_name(google):
    google()
    error = failure(cluster.TPUClusterResolver)
    assert_words(error, "Please provide a TPU Name.*none of .*TPU_NAME is set")
    assert "tpu='virtual:8'" in error.instead


def test_no_name_is_both_errors_of_the_page(google):
    google()
    for kind in (ValueError, RuntimeError):
        with pytest.raises(kind):
            cluster.TPUClusterResolver([])


@pytest.mark.parametrize(
    ("variable", "value", "words"),
    [
        ("COLAB_TPU_ADDR", "10.0.0.1:8470", r"os.environ\['COLAB_TPU_ADDR'\].*Colab"),
        ("TPU_ACCELERATOR_TYPE", "v3-8", "tpu='local'.*TPU VM"),
    ],
)
def test_no_name_where_there_is_a_tpu(google, monkeypatch, variable, value, words):
    google()
    monkeypatch.setenv(variable, value)
    assert_words(failure(cluster.TPUClusterResolver), words)


def start(resolver):
    """Waits as `initialize_tpu_system` and `connect_to_cluster` do first, and starts nothing."""
    named_tpus.healthy(resolver)


def test_waits_for_a_healthy_tpu(google, monkeypatch, capfd):
    monkeypatch.setattr(waiting, "_INTERVAL", 0.1)
    google(
        node("CREATING", tensorflow=HERE),
        node("CREATING", tensorflow=HERE),
        node(health="TIMEOUT", tensorflow=HERE),
        node(health="HEALTHY", tensorflow=HERE),
    )
    start(resolver())
    lines = [each for each in capfd.readouterr().err.splitlines() if "tpudist:" in each]
    said = [each.split("tests) is ")[1].split(" (")[0] for each in lines]
    assert said[:3] == ["CREATING; waiting", "CREATING; waiting", "READY TIMEOUT; waiting"]
    assert " s of 60 s)" in lines[0] and "is ready after" in lines[3]


def test_waits_no_longer_than_allowed(google, hurry):
    google(node("CREATING"))
    assert_words(failure(lambda: start(resolver())), "is CREATING.*waited")


def test_does_not_wait_for_what_never_comes(google, capfd):
    google(node("PREEMPTED"))
    failure(lambda: start(resolver()))
    assert "waiting" not in capfd.readouterr().err


@pytest.mark.parametrize("function", [cluster.initialize_tpu_system, cluster.connect_to_cluster])
def test_runtime_of_another_tensorflow_is_refused(google, function):
    google(node(tensorflow="2.99.0"))
    error = failure(lambda: function(resolver()))
    assert "runs TensorFlow 2.99.0, and this is TensorFlow %s" % versions.TF in error.seen
    assert "configure_tpu_version('%s.0'" % HERE in error.instead
    assert "tensorflow==2.99.*" in error.instead


def test_runtime_of_a_tpu_vm_is_chosen_when_it_is_made(google):
    google(node(version=2, tensorflow="2.99.0"))
    error = failure(lambda: start(resolver()))
    assert "tpu-vm create t --version=tpu-vm-tf-%s.0" % HERE in error.instead


@pytest.mark.parametrize("said", ["nightly", "", HERE + ".3"])
def test_other_runtimes_pass(google, said):
    google(node(tensorflow=said))
    start(resolver())


def test_the_servers_own_word_counts(google):
    google(node(tensorflow="2.99.0"), runtime=HERE + ".0")
    start(resolver())
    google(node(tensorflow=HERE), runtime="2.99.0")
    assert "runs TensorFlow 2.99.0" in failure(lambda: start(resolver())).seen


def test_addresses_are_not_looked_up(google):
    script = google(404, runtime=HERE + ".0")
    found = cluster.TPUClusterResolver("grpc://10.1.2.3:8470")
    assert found.cluster_spec().job_tasks("worker") == ["10.1.2.3:8470"]
    start(found)
    script = google(404, runtime="2.99.0")
    assert_words(failure(lambda: start(found)), "the TPU at 10.1.2.3:8470 runs TensorFlow 2.99.0")
    assert not any("/nodes/" in each for each in script.asked)


def test_kubernetes_endpoints(google, monkeypatch):
    google(404, runtime="2.99.0")
    monkeypatch.setenv(
        "KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS", "grpc://10.1.2.3:8470,grpc://10.1.2.4:8470"
    )
    found = cluster.TPUClusterResolver()
    assert_words(failure(lambda: start(found)), "the TPU at 10.1.2.3:8470")


def test_the_variable_names_it(google, monkeypatch):
    google(node("STOPPED"))
    monkeypatch.setenv("TPU_NAME", "t")
    assert "TPU 't'" in failure(cluster.TPUClusterResolver().master).seen


def test_native_resolvers_wait_too(google):
    google(node("STOPPED"))
    found = tpu.TPUClusterResolver("t", zone=server.ZONE, project=server.PROJECT)
    assert isinstance(failure(lambda: cluster.initialize_tpu_system(found)), TPUStateError)


@pytest.mark.parametrize("text", ["soon", "-1", "0", "inf"])
def test_timeout_is_a_number(google, monkeypatch, text):
    google()
    monkeypatch.setenv("TPUDIST_TPU_TIMEOUT", text)
    assert "TPUDIST_TPU_TIMEOUT=%s" % text in failure(resolver).seen
