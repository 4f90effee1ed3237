"""Who gets the drop-in from ``import tensorflow``, and that nothing stays."""

import builtins
import functools
import importlib
import sys
import textwrap
from unittest import mock

import pytest

from tpudist.dropin import namespace
from tpudist.legacy import hook

native = pytest.importorskip("tensorflow")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def module(folder, name, source="import tensorflow as tf"):
    path = folder.joinpath(*name.split(".")).with_suffix(".py")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(textwrap.dedent(source))
    importlib.invalidate_caches()
    return name


def load(name):
    return importlib.import_module(name)


@pytest.mark.parametrize("era", ["contrib", "v2_0", "v2_2"])
def test_the_users_files_get_the_drop_in(folder, era):
    module(folder, "users_a")
    with hook.Hook(era, str(folder)):
        assert load("users_a").tf is load("tpudist.%s.tensorflow" % era)


@pytest.mark.parametrize(
    ("source", "expression"),
    [
        ("import tensorflow as tf", "tf"),
        ("import tensorflow\ntf = tensorflow", "tf"),
        ("import tensorflow.contrib.distribute as d", "tf.contrib.distribute"),
        ("import tensorflow.contrib.distribute\nd = tensorflow", "tf"),
        ("from tensorflow.contrib import distribute as d", "tf.contrib.distribute"),
        ("from tensorflow import contrib as d", "tf.contrib"),
        (
            "from tensorflow.contrib.distribute.python import tpu_strategy as d",
            "tf.contrib.distribute.python.tpu_strategy",
        ),
        (
            "from tensorflow.python.distribute import tpu_strategy as d",
            "tf.python.distribute.tpu_strategy",
        ),
        ("import tensorflow.compat.v1 as d", "tf.compat.v1"),
        ("import tensorflow.compat.v2 as d", "tf.compat.v2"),
        ("import tensorflow.keras as d", "tf.keras"),
        ("from tensorflow.keras import layers as d", "tf.keras.layers"),
        ("from tensorflow.keras.layers import Dense as d", "tf.keras.layers.Dense"),
        ("from tensorflow import keras as d", "tf.keras"),
        ("from tensorflow import Session as d", "tf.Session"),
        ("import importlib\nd = importlib.import_module('tensorflow')", "tf"),
        ("import importlib\nd = importlib.import_module('tensorflow.contrib')", "tf.contrib"),
        ("from importlib import import_module\nd = import_module('tensorflow')", "tf"),
        ("d = __import__('tensorflow')", "tf"),
        ("def f():\n  import tensorflow as tf\n  return tf\nd = f()", "tf"),
    ],
    ids=lambda text: text.replace("\n", "; "),
)
def test_every_way_to_import(folder, source, expression):
    module(folder, "users_b", source)
    with hook.Hook("contrib", str(folder)):
        users = load("users_b")
        expected = eval(expression, {"tf": load("tpudist.contrib.tensorflow")})
    got = users.d if hasattr(users, "d") else users.tf
    if expression in ("tf.keras", "tf.keras.layers"):
        # What imports give is the module that Keras' lazy loader stands for.
        got, expected = [getattr(value, "layers", value).Dense for value in (got, expected)]
    assert got is expected


@pytest.mark.parametrize("owner", ["train", "compat.v1.train"])
def test_a_mock_by_its_name_is_the_programs_and_the_libraries(folder, owner):
    """TensorFlow 2 has no `tf.train.get_global_step`; the program's `tf` does."""
    module(folder, "users_mocked")
    with hook.Hook("contrib", str(folder)):
        tf = load("users_mocked").tf
        space = functools.reduce(getattr, owner.split("."), tf)
        library = namespace.bases_of(space)[0]
        original, name = library.get_global_step, "tensorflow.%s.get_global_step" % owner
        with mock.patch(name) as mocked:
            assert space.get_global_step is mocked
            assert library.get_global_step is mocked
        with pytest.MonkeyPatch.context() as patches:
            patches.setattr(name, mocked)
            assert library.get_global_step is mocked
    assert space.get_global_step is library.get_global_step is original


def test_modules_that_tpudist_does_not_cover_are_tensorflows(folder):
    module(
        folder,
        "users_c",
        """
        from tensorflow.python.framework import ops
        from tensorflow.core.framework import graph_pb2
        import tensorflow.python.framework.ops as again
        """,
    )
    with hook.Hook("contrib", str(folder)):
        users = load("users_c")
    assert users.ops.Graph is users.again.Graph is native.Graph
    assert users.graph_pb2.GraphDef is native.compat.v1.GraphDef


@pytest.mark.parametrize(
    "place",
    ["site-packages.installed", "venv.lib.site-packages.installed", "env.dist-packages.installed"],
)
def test_packages_installed_below_the_folder_get_the_real_one(folder, place, monkeypatch):
    module(folder, place)
    monkeypatch.syspath_prepend(str(folder.joinpath(*place.split(".")[:-1])))
    with hook.Hook("contrib", str(folder)):
        assert load("installed").tf is native
    del sys.modules["installed"]


def test_modules_of_before_that_stand_elsewhere_keep_the_real_one(
    folder, tmp_path_factory, monkeypatch
):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    monkeypatch.syspath_prepend(str(elsewhere))
    module(elsewhere, "others", "def load():\n  import tensorflow as tf\n  return tf")
    module(elsewhere, "later", "import others\nimport tensorflow as tf")
    others = load("others")
    with hook.Hook("contrib", str(folder)):
        assert load("later").tf is load("tpudist.contrib.tensorflow")
        assert load("later").others is others and others.load() is native
        import tensorflow as mine

        assert mine is native
        assert importlib.import_module("tensorflow") is native
    assert "later" not in sys.modules
    del sys.modules["others"]


def test_a_folder_whose_name_begins_alike_is_elsewhere(folder):
    with hook.Hook("contrib", str(folder)) as made:
        assert made.is_users(str(folder / "a.py"))
        assert made.is_users(str(folder / "below" / "a.py"))
        assert not made.is_users(str(folder) + "2/a.py")
        assert not made.is_users(None)


def test_tpudist_is_nobodys_file():
    import tpudist
    from tpudist.tfcompat import versions

    checkout = versions.__file__.rsplit("tpudist", 1)[0]
    made = hook.Hook("contrib", checkout)
    assert made.is_users(checkout + "script.py")
    assert not made.is_users(versions.__file__)
    assert not made.is_users(tpudist.__file__)


def test_tensorflow_installed_below_the_folder_is_nobodys_file(monkeypatch):
    installed = native.__file__.rsplit("tensorflow", 1)[0]
    made = hook.Hook("contrib", installed.rsplit("site-packages", 1)[0])
    assert not made.is_users(native.__file__)
    assert not made.is_users(installed + "some_other_package/a.py")


def everything():
    return (builtins.__import__, importlib.import_module, list(sys.meta_path), dict(sys.modules))


@pytest.mark.parametrize("leave", [None, ValueError, SystemExit, KeyboardInterrupt])
def test_all_is_undone(folder, leave):
    load("tpudist.contrib.tensorflow")
    native.keras.layers
    module(folder, "users_d", "from tensorflow.contrib import distribute")
    before = everything()
    try:
        with hook.Hook("contrib", str(folder)):
            assert builtins.__import__ is not before[0]
            load("users_d")
            assert "users_d" in sys.modules
            if leave:
                raise leave()
    except BaseException as error:  # noqa: BLE001
        assert type(error) is leave
    assert everything() == before


def test_modules_of_before_are_hidden_and_come_back(folder):
    module(folder, "users_e")
    outside = load("users_e")
    assert outside.tf is native
    with hook.Hook("contrib", str(folder)):
        assert load("users_e") is not outside
        assert load("users_e").tf is load("tpudist.contrib.tensorflow")
    assert load("users_e") is outside
    del sys.modules["users_e"]


def test_the_package_of_the_estimator_leads_to_ours(folder):
    source = """
        from tensorflow_estimator.python.estimator import estimator, model_fn
        from tensorflow_estimator.python.estimator.tpu import tpu_config
        from tensorflow_estimator.python.estimator.tpu.tpu_estimator import TPUEstimator
        """
    module(folder, "users_estimators", source)
    with hook.Hook("contrib", str(folder)):
        found, tf = load("users_estimators"), load("tpudist.contrib.tensorflow")
        assert found.estimator.Estimator is tf.estimator.Estimator
        assert found.model_fn.EstimatorSpec is tf.estimator.EstimatorSpec
        assert found.tpu_config.TPUConfig is tf.contrib.tpu.TPUConfig
        assert found.TPUEstimator is tf.contrib.tpu.TPUEstimator


def test_what_tpudist_has_not_of_that_package_is_its_own(folder):
    try:
        from tensorflow_estimator.python.estimator import util as natively
    except ImportError:
        natively = None
    source = """
        try:
            from tensorflow_estimator.python.estimator import util
        except ImportError:
            util = None
        """
    module(folder, "users_utilities", source)
    with hook.Hook("contrib", str(folder)):
        assert load("users_utilities").util is natively
