"""The same scripts with ``import tensorflow as tf``, under ``tpudist run``."""

import os
import re
import shutil

import pytest

from tests.examples import running

pytestmark = pytest.mark.slow


ERAS = [
    ("contrib_steps", "contrib"),
    ("contrib_towers", "contrib"),
    ("tpu_estimator", "contrib"),
    ("v2_0", "2.0"),
    ("v2_2", "2.2"),
    ("logical_devices", "2.2"),
]
_IMPORT = re.compile(r"^from tpudist\.\w+ import tensorflow as tf$", re.MULTILINE)
_EPOCHS = ("--epochs", "2")


@pytest.fixture(scope="module")
def plain():
    return running.result(running.example("plain", *_EPOCHS))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the examples as they would have been written then."""
    folder = str(tmp_path_factory.mktemp("legacy") / "examples")
    shutil.copytree(running.EXAMPLES, folder, ignore=shutil.ignore_patterns("__pycache__"))
    for name, _ in ERAS:
        path = os.path.join(folder, name + ".py")
        with open(path) as file:
            text, count = _IMPORT.subn("import tensorflow as tf", file.read())
        assert count == 1, "%s imports tensorflow in %d lines" % (name, count)
        assert "tpudist" not in text.split('"""', 2)[2]
        with open(path, "w") as file:
            file.write(text)
    return folder


@pytest.mark.parametrize(
    ("name", "era"),
    [
        pytest.param(*each, marks=() if each[0] in running.IN_CI else pytest.mark.proof)
        for each in ERAS
    ],
)
def test_unmodified_script_of_an_era(name, era, folder, plain):
    done = running.python(
        "-m",
        "tpudist",
        "run",
        "--era",
        era,
        "--tpu",
        "virtual:8",
        os.path.join(folder, name + ".py"),
        "--tpu",
        "my-tpu-of-2019",
        *_EPOCHS,
    )
    found = running.result(done)
    assert found.loss == pytest.approx(plain.loss, rel=1e-3)
    assert found.accuracy == plain.accuracy


@pytest.mark.parametrize(("name", "era"), ERAS)
def test_the_era_is_found(name, era, folder):
    from tpudist import surfaces
    from tpudist.surfaces.eras import program

    found = program.read(os.path.join(folder, name + ".py")).decision
    assert found.era == surfaces.era_named(era)


def test_plain_tensorflow_knows_no_tpudist():
    for name in ("plain", "convnet", "digits"):
        with open(os.path.join(running.EXAMPLES, name + ".py")) as file:
            assert not re.search(r"^\s*(from|import) tpudist", file.read(), re.MULTILINE)
