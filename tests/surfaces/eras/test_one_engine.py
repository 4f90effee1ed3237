"""``tpudist run``, ``compile`` and ``migrate`` are told the same era."""

import pytest

from tests.tools.migrate import harness
from tpudist.surfaces.eras import program
from tpudist.tools.migrate import program as programs
from tpudist.tools.migrate.resolution import codebase

TF = "import tensorflow as tf\n"
CLASS = TF + "strategy = tf.distribute.experimental.TPUStrategy(r)\n"
FILES = {
    "train115": (
        TF + "tf.contrib.distribute.initialize_tpu_system(r)\n"
        "strategy = tf.contrib.distribute.TPUStrategy(r)\n"
        "strategy.experimental_local_results(strategy.experimental_run_v2(f))\n",
        "contrib",
    ),
    "towers": (TF + "strategy.call_for_each_tower(f)\n", "contrib"),
    "later": (CLASS + "strategy.make_dataset_iterator(d)\n", "v2_2"),
    "v2_0": (CLASS + "strategy.experimental_run_v2(f)\n", "v2_0"),
    "v2_2": (CLASS + "strategy.run(f)\n", "v2_2"),
    "both": (CLASS + "strategy.run(f)\nstrategy.experimental_run_v2(f)\n", "v2_2"),
    "asks": (
        CLASS + "run = getattr(strategy, 'run', None) or strategy.experimental_run_v2\n",
        "v2_2",
    ),
    "branches": (
        TF + "if old:\n  tf.contrib.distribute.TPUStrategy(r)\nelse:\n  strategy.run(f)\n",
        "v2_2",
    ),
    "stated": ("from tpudist.v2_0 import tensorflow as tf\nstrategy.run(f)\n", "v2_0"),
}


@pytest.mark.parametrize("name", FILES)
def test_the_same_era(tmp_path, name):
    text, era = FILES[name]
    harness.put(tmp_path, {"train.py": text})
    path = str(tmp_path / "train.py")
    found = programs.Program(codebase.CodeBase([str(tmp_path)]))
    assert (program.read(path).decision.era, found.eras[path]) == (era, era)
