"""TPU VMs, Colab, Kubernetes and names of Cloud TPU are told apart in words."""

import pytest

from tpudist.cloud import places

POD = "grpc://10.0.0.2:8470"


@pytest.mark.parametrize(
    ("tpu", "variables", "chips", "name", "words"),
    [
        ("local", {}, (), "local", "chips of this machine, a TPU VM"),
        (None, {}, ("/dev/accel0",), "local", "chips of this machine, a TPU VM"),
        (None, {"TPU_NAME": "mine"}, (), "mine", "Google Cloud knows by that name"),
        (None, {"TPU_NAME": "LOCAL"}, (), "LOCAL", "a TPU VM"),
        (None, {"KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS": POD}, (), POD, "Kubernetes"),
        (POD, {"KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS": POD}, (), POD, "Kubernetes"),
        (POD, {"COLAB_TPU_ADDR": "10.0.0.2:8470"}, (), POD, "Colab notebook"),
        (POD, {}, (), POD, "by its address"),
        (None, {"TPU_NAME": "mine", "TPUDIST_TPU": "virtual:8"}, (), "virtual:8", "virtual"),
        (None, {}, (), None, "no TPU is named"),
    ],
)
def test_words(tpu, variables, chips, name, words):
    found = places.of(tpu, variables, chips)
    assert found.name == name and words in found.words


@pytest.mark.parametrize(
    ("variables", "chips", "words"),
    [
        ({}, (), "virtual:8"),
        ({}, ("/dev/accel0",), "tpu='local'"),
        ({"TPU_WORKER_HOSTNAMES": "localhost"}, (), "tpu='local'"),
        ({"TPU_WORKER_HOSTNAMES": "a,b"}, ("/dev/accel0",), "first host alone"),
        ({"COLAB_TPU_ADDR": "10.0.0.2:8470"}, (), "'grpc://' + os.environ['COLAB_TPU_ADDR']"),
    ],
)
def test_advice(variables, chips, words):
    assert words in places.advice(variables, chips)


@pytest.mark.parametrize(
    ("tpu", "variables", "name"),
    [
        ("mine", {"TPU_NAME": "other"}, "mine"),
        (["mine"], {}, "mine"),
        (None, {"TPU_NAME": "mine"}, "mine"),
        ("", {"KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS": POD, "TPU_NAME": "mine"}, POD),
        (None, {"TPU_CONFIG": '{"tpu_node_name": "mine"}'}, "mine"),
        (None, {"TPU_CONFIG": "[]"}, ""),
        (None, {"TPU_CONFIG": "mine"}, ""),
        ([], {}, ""),
    ],
)
def test_the_name_that_a_resolver_takes(tpu, variables, name):
    assert places.named(tpu, variables) == name
