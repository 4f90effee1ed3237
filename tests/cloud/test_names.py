"""A TPU that the environment names, and one that is not there, without Google's services."""

import pytest
import tensorflow as tf

from tpudist.errors import TPUNameError
from tpudist.system import cluster
from tpudist.tfcompat import tpu

NAMES = ("TPU_NAME", "KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS", "COLAB_TPU_ADDR", "TPU_CONFIG")


@pytest.fixture
def variables(monkeypatch):
    """Sets the variables that name a TPU; the others are not set."""
    for name in (*NAMES, "TPUDIST_TPU", "TPU_WORKER_HOSTNAMES", "TPU_ACCELERATOR_TYPE"):
        monkeypatch.delenv(name, raising=False)
    return lambda **given: [monkeypatch.setenv(*each) for each in given.items()]


@pytest.mark.parametrize("name", ["virtual:4", "VIRTUAL:4", "Virtual:v2-8"])
@pytest.mark.parametrize("variable", ["TPU_NAME", "TPUDIST_TPU", None])
def test_a_virtual_tpu_is_named_in_any_case(variables, name, variable):
    variables(**({variable: name} if variable else {}))
    made = cluster.TPUClusterResolver(None if variable else name)
    assert made.system.cores == (8 if "v2" in name else 4) and made.master() == ""


@pytest.mark.parametrize("variable", ["TPU_NAME", None])
@pytest.mark.parametrize("name", ["local", "LOCAL"])
def test_no_tpu_on_this_machine(variables, name, variable):
    if any("TPU" in each for each in tpu.real_devices()):
        pytest.skip("this machine has a TPU")
    variables(**({variable: name} if variable else {}))
    with pytest.raises(RuntimeError, match="tpudist doctor.*tpu='virtual:8'") as caught:
        cluster.initialize_tpu_system(cluster.TPUClusterResolver(None if variable else name))
    assert isinstance(caught.value, (tf.errors.OpError, TPUNameError))


@pytest.mark.parametrize("config", ["{mine", "[]", '{"zone": "z"}'])
def test_a_configuration_without_a_name_is_quoted(variables, config):
    variables(TPU_CONFIG=config)
    with pytest.raises(TPUNameError) as caught:
        cluster.TPUClusterResolver()
    assert "TPU_CONFIG=" + config in caught.value.seen and "tpu_node_name" in caught.value.why
