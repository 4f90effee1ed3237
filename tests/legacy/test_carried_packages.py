"""A package that carries a part of contrib on, and names what its TensorFlow has no more."""

import inspect
import sys

import numpy as np
import pytest

from tests.helpers.generations import second_generation
from tpudist.errors import EraNameError
from tpudist.legacy import quirks, runner

tf = pytest.importorskip("tensorflow")

PACKAGE = """
import inspect

import tensorflow as tf


class RunTrainOpsHook(tf.estimator.SessionRunHook):
    pass


def gan_model(generator, *, scale=1.0):
    return inspect.getargspec(generator).args
"""


SLIM = """
from tensorflow.python.framework import ops
from tensorflow.python.ops import variable_scope


def kinds(value):
    return isinstance(value, ops.Tensor), isinstance(variable_scope.variable(1.0), ops.Tensor)
"""


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Writes a package as it is installed; returns its folder."""
    written = []

    def write(top, source):
        folder = tmp_path / "site-packages" / top
        folder.mkdir(parents=True)
        (folder / "__init__.py").write_text(source)
        monkeypatch.syspath_prepend(str(folder.parent))
        for name in [each for each in sys.modules if each.split(".")[0] == top]:
            monkeypatch.delitem(sys.modules, name)
        written.append(top)
        return folder

    yield write
    for top in written:
        sys.modules.pop(top, None)


@pytest.fixture
def package(installed):
    """A package of the name of TF-GAN, as it is installed."""
    return installed("tensorflow_gan", PACKAGE)


@pytest.mark.parametrize("era", ["contrib", "2.2"])
@second_generation
def test_slim_finds_what_it_names_of_tensorflows_own_code(script, installed, capsys, era):
    installed("tf_slim", SLIM)
    source = "import tensorflow.compat.v1 as tf, tf_slim\nwith tf.Graph().as_default():\n"
    path = script(source + "  print(tf_slim.kinds(tf.constant(1.0)))")
    code = runner.run(path, era=era)
    out, err = capsys.readouterr()
    assert (code, out) == (0, "(True, False)\n"), err
    assert "tf_slim sees TensorFlow of the era " + era in err and "--not tf_slim" in err


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


def test_a_feature_of_integers_takes_bools_with_every_numpy():
    before = tf.train.Int64List
    with quirks.applied():
        made = tf.train.Int64List(value=np.array([True, False]))
        feature = tf.train.Feature(int64_list=made)
        assert isinstance(made, tf.train.Int64List)
        assert tf.train.Int64List.FromString(made.SerializeToString()) == made
        assert tf.train.Int64List(value=[3]).value == [3] and not tf.train.Int64List().value
    assert feature.int64_list.value == [1, 0] and tf.train.Int64List is before
