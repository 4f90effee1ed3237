"""On a machine of Google Cloud project, zone and credentials come from its metadata service."""

import json
import os
import subprocess
import sys

import pytest

from tests.cloud import server
from tests.cloud.server import CUT, GARBAGE, SLOW, node

for package in ("googleapiclient", "socks"):
    pytest.importorskip(package, reason='pip install ".[test-cloud]" brings it')

PLACE = {"zone": server.ZONE, "project": server.PROJECT}


@pytest.fixture(scope="module")
def machine(running, tmp_path_factory):
    """A function that looks the TPU "t" up on a machine of Google Cloud; see on_a_machine.py."""
    address = running.url.split("://")[1]
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("GOOGLE_", "GCE_", "TPU", "KUBE_", "COLAB_", "CLOUDSDK_"))
    }
    variables = dict(
        kept,
        CLOUDSDK_CONFIG=str(tmp_path_factory.mktemp("no_login")),
        GCE_METADATA_IP=address,
        GCE_METADATA_HOST=address,
        GCE_METADATA_ROOT=address,
        TPU_API_DISCOVERY_URL=running.url + "/discovery?v={apiVersion}",
        http_proxy=running.url,
        no_proxy="127.0.0.1,localhost",
    )
    with subprocess.Popen(
        [sys.executable, "-m", "tests.cloud.on_a_machine"],
        env=variables,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        universal_newlines=True,
    ) as process:

        def look(script, seconds=60, **place):
            running.script = script
            print(json.dumps(dict(place, seconds=seconds)), file=process.stdin, flush=True)
            line = next(line for line in process.stdout if line.startswith("@"))
            script.stopped.set()
            return json.loads(line[1:])

        yield look
        process.kill()


@pytest.mark.parametrize("version", [1, 2])
def test_all_of_it_comes_from_the_metadata_service(machine, version):
    script = server.Script(node(version=version, hosts=4, type="v3-32"))
    assert machine(script)["hosts"] == ["10.1.2.%d:8470" % i for i in (3, 4, 5, 6)]
    assert set(script.tokens) == {"Bearer of-this-machine"}
    asked = " ".join(script.asked)
    assert "/computeMetadata/v1/project/project-id" in asked
    assert "/computeMetadata/v1/instance/zone" in asked
    # The credentials' client reaches it by the variables alone: a path, no proxy's address.
    assert "/computeMetadata/v1/instance/service-accounts/machine@tests/token" in script.asked
    assert "/projects/tests/locations/us-central1-b/nodes/t" in asked


def test_what_is_given_is_not_asked_for(machine):
    script = server.Script(node())
    assert machine(script, **PLACE)["hosts"]
    assert not any("project-id" in each or "instance/zone" in each for each in script.asked)


@pytest.mark.parametrize("reply", [CUT, GARBAGE])
def test_what_passes_is_asked_again(machine, reply):
    script = server.Script(node(), metadata=[reply, True], account=[reply, True])
    assert machine(script)["hosts"] == ["10.1.2.3:8470"]


@pytest.mark.parametrize(
    ("metadata", "words"),
    [
        (CUT, "cannot be reached from here"),
        (GARBAGE, "answers in its place"),
        (SLOW, "no answer within 2 s"),
        (False, "zone=ZONE, project=PROJECT"),
    ],
)
def test_project_and_zone_that_do_not_come(machine, metadata, words):
    said = machine(server.Script(node(), metadata=metadata), seconds=2)
    assert said["kind"] == "TPUAccessError"
    assert words in said["seen"] + said["why"] + said["instead"]


@pytest.mark.parametrize(
    ("account", "words"),
    [
        (False, "set-service-account"),
        (CUT, "cannot be reached from here"),
        (GARBAGE, "answers in its place"),
        (SLOW, "no answer within 2 s"),
    ],
)
def test_credentials_that_do_not_come(machine, account, words):
    said = machine(server.Script(node(), account=account), seconds=2)
    assert said["kind"] == "TPUAccessError"
    assert words in said["seen"] + said["why"] + said["instead"]


def test_no_metadata_service_and_no_credentials(machine):
    said = machine(server.Script(node(), metadata=False), **PLACE)
    assert said["kind"] == "TPUAccessError" and "no Google credentials" in said["seen"]


def test_scopes_of_the_machine(machine):
    words = "Request had insufficient authentication scopes."
    said = machine(server.Script((403, words)))
    assert words in said["seen"] and "--scopes=cloud-platform" in said["instead"]


@pytest.mark.slow
def test_states_over_time(machine):
    said = machine(server.Script(429, 503, CUT, node("PREEMPTED")))
    assert said["kind"] == "TPUStateError" and "is PREEMPTED" in said["seen"]
