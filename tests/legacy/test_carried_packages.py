"""A package that carries a part of contrib on, and names what its TensorFlow has no more."""

import inspect
import sys

import pytest

from tests.generations import second_generation
from tpudist.errors import EraNameError
from tpudist.legacy import runner

tf = pytest.importorskip("tensorflow")

PACKAGE = """
import inspect

import tensorflow as tf


class RunTrainOpsHook(tf.estimator.SessionRunHook):
    pass


def gan_model(generator, *, scale=1.0):
    return inspect.getargspec(generator).args
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of the name of TF-GAN, as it is installed."""
    folder = tmp_path / "site-packages" / "tensorflow_gan"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text(PACKAGE)
    monkeypatch.syspath_prepend(str(folder.parent))
    for name in [each for each in sys.modules if each.split(".")[0] == "tensorflow_gan"]:
        monkeypatch.delitem(sys.modules, name)
    yield folder
    sys.modules.pop("tensorflow_gan", None)


@second_generation
def test_contrib_gan_is_the_package_under_run(script, package, capsys):
    path = script(
        """
        import tensorflow as tf
        gan = tf.contrib.gan
        print(gan.gan_model(lambda noise, size: noise), gan.RunTrainOpsHook.__name__)
        print(issubclass(gan.RunTrainOpsHook, tf.train.SessionRunHook))
        """
    )
    had = hasattr(inspect, "getargspec")
    assert runner.run(path, era="contrib") == 0, capsys.readouterr().err
    assert capsys.readouterr().out == "['noise', 'size'] RunTrainOpsHook\nTrue\n"
    assert hasattr(inspect, "getargspec") == had


@pytest.mark.skipif(hasattr(tf, "estimator"), reason="its TensorFlow has tf.estimator")
def test_without_run_it_is_told_why(package):
    from tests.dropin.harness import drop_in

    contrib = drop_in("contrib").contrib
    vars(contrib).pop("gan", None)
    with pytest.raises(EraNameError, match="tpudist run"):
        print(contrib.gan.gan_model)
    assert not hasattr(contrib, "gan")
    vars(contrib).pop("gan", None)
