"""Programs of users as checkers and editors see them: nothing false, and the era's docstrings."""

import importlib
import inspect
import operator
import os
import pathlib
import re
import shutil

import pytest

from tests.types import checkers, editors

pytestmark = pytest.mark.slow

PROGRAMS = os.path.join(checkers.HERE, "programs")
#: The packages of the programs' environments.
PACKAGES = {"with TensorFlow": None, "without TensorFlow": ["numpy"]}

#: Names of an era whose docstring an editor shows.
HOVERS = {
    "contrib": """
        tf.contrib.distribute.TPUStrategy
        tf.contrib.distribute.TPUStrategy.call_for_each_tower
        tf.contrib.distribute.TPUStrategy.run_steps_on_dataset
        tf.contrib.distribute.TPUStrategy.unwrap
        tf.contrib.distribute.TPUStrategy.num_towers
        tf.contrib.distribute.get_tower_context
        tf.contrib.cluster_resolver.TPUClusterResolver.get_master
        tf.contrib.tpu.CrossShardOptimizer
        tf.contrib.tpu.TPUEstimator
        tf.contrib.tpu.TPUEstimator.train
        tf.contrib.tpu.keras_to_tpu_model
    """,
    "v2_0": """
        tf.distribute.experimental.TPUStrategy
        tf.distribute.experimental.TPUStrategy.experimental_run_v2
        tf.distribute.experimental.TPUStrategy.reduce
        tf.tpu.experimental.initialize_tpu_system
    """,
    "v2_2": """
        tf.distribute.cluster_resolver.TPUClusterResolver
        tf.distribute.experimental.TPUStrategy
        tf.distribute.experimental.TPUStrategy.run
        tf.distribute.experimental.TPUStrategy.experimental_split_to_logical_devices
        tf.distribute.experimental.ValueContext
        tf.tpu.experimental.DeviceAssignment.build
    """,
}


@pytest.fixture(scope="module", params=sorted(PACKAGES))
def python(request, tmp_path_factory):
    """The Python of a user's environment."""
    folder = tmp_path_factory.mktemp("environment") / "env"
    return editors.environment(folder, PACKAGES[request.param])


@pytest.mark.parametrize("check", [editors.mypy, editors.pyright])
def test_nothing_is_said_of_right_programs(check, python, tmp_path):
    programs = tmp_path / "programs"
    shutil.copytree(PROGRAMS, str(programs))
    assert check(programs, python) == []


@pytest.mark.parametrize("era", sorted(HOVERS))
def test_nothing_is_said_of_unmodified_programs_with_the_era_to_import_from(era, python, tmp_path):
    """With the setting of the guide: an era's folder, in which `import tensorflow` is found."""
    for path in pathlib.Path(PROGRAMS).rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if "tpudist.%s" % era in text:
            text = re.sub(r"from tpudist\.\w+ import tensorflow as", "import tensorflow as", text)
            text = re.sub(r"tpudist\.\w+\.tensorflow", "tensorflow", text)
            assert "tpudist" not in text
            copied = tmp_path / path.relative_to(PROGRAMS)
            copied.parent.mkdir(exist_ok=True)
            copied.write_text(text, encoding="utf-8")
    mistake = tmp_path / "mistake.py"
    mistake.write_text(
        "import tensorflow as tf\ntf.distribute.experimental.TPUStrategy().call_each()\n"
    )
    (said,) = editors.pyright(tmp_path, python, [os.path.join(checkers.ROOT, "tpudist", era)])
    assert said.startswith("%s:2: " % mistake) and '"call_each"' in said


def test_an_editor_shows_the_docstrings_of_an_era(tmp_path):
    python = editors.environment(tmp_path / "env", None)
    with editors.LanguageServer(tmp_path, python) as server:
        for era, names in HOVERS.items():
            lines = ["from tpudist.%s import tensorflow as tf" % era, *names.split()]
            hovers = server.hovers("\n".join(lines) + "\n")
            assert list(hovers) == names.split()
            tf = importlib.import_module("tpudist.%s.tensorflow" % era)
            first = {
                name: inspect.getdoc(operator.attrgetter(name[len("tf.") :])(tf)).split("\n")[0]
                for name in hovers
            }
            missing = {n: hovers[n] for n, line in first.items() if _plain(line) not in hovers[n]}
            assert missing == {}


def _plain(line):
    """A line of a docstring as text that is shown."""
    return line.replace("``", "`")
