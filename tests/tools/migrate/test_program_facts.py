"""What is known of a code base before its files are rewritten."""

import pytest

from tests.tools.migrate import harness
from tpudist.tools.migrate import program as programs
from tpudist.tools.migrate.resolution import codebase as codebases

TF = "import tensorflow as tf\n"
CONTRIB = TF + "s = tf.contrib.distribute.TPUStrategy(r, 1)\n"


def facts(folder, files, origin="auto"):
    """The Program of a code base, and a function from a name to its path."""
    harness.put(folder, files)
    found = programs.Program(codebases.CodeBase([str(folder)]), origin)
    return found, lambda name: str(folder / name)


@pytest.mark.parametrize(
    ("text", "era"),
    [
        (CONTRIB, "contrib"),
        (TF + "strategy.call_for_each_tower(fn)\n", "contrib"),
        (TF + "from tensorflow.contrib import distribute\n", "contrib"),
        (TF + "tf.contrib.layers.conv2d(x)\n", "contrib"),
        (TF + "strategy.experimental_run_v2(fn)\n", "v2_0"),
        (TF + "strategy.experimental_split_to_logical_devices(x, [1])\n", "v2_2"),
        (TF + "strategy.read_var(x)\nstrategy.experimental_run_v2(fn)\n", "contrib"),
        ("from tpudist.contrib import tensorflow as tf\n", "contrib"),
        ("from tpudist.v2_0 import tensorflow as tf\n", "v2_0"),
        ("from tpudist.v2_2 import TPUStrategy\n", "v2_2"),
        (TF + "tf.Session()\n", ""),
        (TF + "tf.train.AdamOptimizer(1.)\n", ""),
        ("x = 1\n", ""),
        ("strategy = 'contrib'\n", ""),
    ],
)
def test_era_of_a_file(tmp_path, text, era):
    found, path = facts(tmp_path, {"a.py": text})
    assert found.eras.get(path("a.py"), "") == era


@pytest.mark.parametrize(
    ("text", "graph"),
    [
        ("with tf.Session() as s: pass\n", True),
        ("tf.Graph().as_default()\n", True),
        ("s = tf.train.MonitoredTrainingSession()\n", True),
        ("session = 3\n", False),
    ],
)
def test_graph_or_eager(tmp_path, text, graph):
    found, path = facts(tmp_path, {"a.py": CONTRIB + text})
    assert (path("a.py") in found.graphs) == graph
    found, path = facts(tmp_path, {"a.py": CONTRIB + "import b\n", "b.py": TF + text})
    assert (path("a.py") in found.graphs) == graph


def test_programs_beside_each_other(tmp_path):
    found, path = facts(
        tmp_path,
        {
            "graph.py": CONTRIB + "import lib.shared\ntf.Session()\n",
            "eager.py": CONTRIB + "from lib import (shared)\n",
            "main.py": "from lib import part, session\n",
            "lib/__init__.py": "",
            "lib/shared.py": TF,
            "lib/part.py": CONTRIB,
            "lib/session.py": CONTRIB + "tf.Session()\n",
        },
    )
    builds = {name for name in ("graph.py", "eager.py", "lib/shared.py", "lib/part.py")
              if path(name) in found.graphs}  # fmt: skip
    assert builds == {"graph.py", "lib/shared.py", "lib/part.py"}


def test_companions_are_files_of_tensorflow_1_that_are_imported(tmp_path):
    found, path = facts(
        tmp_path,
        {
            "train.py": CONTRIB + "from lib import model, asking\n",
            "lib/__init__.py": "",
            "lib/model.py": TF + "from . import layers\ntf.get_variable('x')\n",
            "lib/layers.py": TF + "tf.placeholder(x)\n",
            "lib/numbers.py": TF + "tf.Session()\n",
            "lib/plain.py": TF + "tf.constant(1)\n",
            "lib/asking.py": TF + "if hasattr(m, 'a'):\n    tf.logging.info(1)\n",
        },
    )
    names = ("lib/model.py", "lib/layers.py", "lib/asking.py")
    assert found.companions == {path(name) for name in names}
    assert found.is_contrib(path("lib/layers.py")) and not found.is_contrib(path("lib/plain.py"))
    assert found.wants_v1(path("lib/layers.py"))


@pytest.mark.parametrize(
    ("text", "origin", "divides"),
    [
        (CONTRIB, "auto", True),
        (CONTRIB, "1.11", True),
        (CONTRIB, "1.13", True),
        (CONTRIB, "1.15", False),
        (CONTRIB, "2.0", False),
        (CONTRIB + "s.experimental_run_v2(fn)\n", "auto", False),
        (CONTRIB + "s.experimental_run_v2(fn)\n", "1.11", True),
        (CONTRIB + "tf.contrib.distribute.initialize_tpu_system(r)\n", "auto", False),
        (CONTRIB + "s.experimental_run(fn)\n", "auto", True),
        (
            CONTRIB + "tf.contrib.distribute.initialize_tpu_system(r)\ns.call_for_each_tower(fn)\n",
            "auto",
            True,
        ),
        (TF + "tf.contrib.distribute.MirroredStrategy()\n", "auto", False),
        (TF + "tf.contrib.layers.conv2d(x)\n", "auto", False),
    ],
)
def test_who_divided_a_mean_loss(tmp_path, text, origin, divides):
    found, path = facts(tmp_path, {"a.py": text}, origin)
    assert (path("a.py") in found.divided) == divides


@pytest.mark.parametrize(
    ("reduction", "sums"),
    [("SUM", True), ("NONE", True), ("MEAN", False), ("SUM_BY_NONZERO_WEIGHTS", False)],
)
def test_losses_that_are_sums(tmp_path, reduction, sums):
    text = CONTRIB + "tf.losses.log_loss(a, b, reduction=tf.losses.Reduction.%s)\n" % reduction
    other = TF + "tf.losses.log_loss(a, b, reduction=tf.losses.Reduction.SUM)\n"
    found, path = facts(tmp_path, {"a.py": text, "other/b.py": other})
    assert (path("a.py") in found.summing) == sums  # whatever another program does


def test_files_that_do_not_parse_have_no_facts(tmp_path):
    found, path = facts(tmp_path, {"a.py": TF + "print 'x'\n", "b.py": CONTRIB})
    assert list(found.eras) == [path("b.py")]
    assert found.files == [path("a.py"), path("b.py")]


@pytest.mark.parametrize(
    ("text", "is_looked_at"),
    [
        (TF, True),
        (TF + "tf.Session()\n", True),
        (TF + "s = tf.distribute.get_strategy()\n", True),
        ("from tpudist import contrib\n", True),
        ("strategy.experimental_run_v2(f)\n", True),
        ("x.num_towers\n", True),
        ("import os\nprint(1)\n", False),
        ("model.run(x)\n", False),
        ("this is no Python\n", False),
    ],
)
def test_files_that_are_looked_at(tmp_path, text, is_looked_at):
    found, path = facts(tmp_path, {"a.py": text})
    assert found.files == ([path("a.py")] if is_looked_at else [])


@pytest.mark.parametrize(
    ("importer", "dotted", "level", "expected"),
    [
        ("pkg/sub/a.py", "b", 1, "pkg/sub/b.py"),
        ("pkg/sub/a.py", "top", 2, "pkg/top.py"),
        ("pkg/sub/a.py", "pkg.top", 0, "pkg/top.py"),
        ("main.py", "pkg.sub.b", 0, "pkg/sub/b.py"),
        ("pkg/sub/a.py", "", 1, "pkg/sub/__init__.py"),
        ("main.py", "pkg", 0, "pkg/__init__.py"),
        ("main.py", "numpy", 0, None),
        ("pkg/sub/a.py", "nothing", 3, None),
    ],
)
def test_what_an_import_means(tmp_path, importer, dotted, level, expected):
    harness.put(
        tmp_path,
        dict.fromkeys(
            (
                "main.py",
                "pkg/__init__.py",
                "pkg/top.py",
                "pkg/sub/__init__.py",
                "pkg/sub/a.py",
                "pkg/sub/b.py",
            ),
            "",
        ),
    )
    codebase = codebases.CodeBase([str(tmp_path)])
    found = codebase.find_module(dotted, level, str(tmp_path / importer))
    assert found == (expected and str(tmp_path / expected))


@pytest.mark.parametrize(
    ("text", "is_strategic"),
    [
        ('"""A DistributionStrategy."""\n', True),
        ("# get_strategy\n", True),
        ("s = tf.distribute.MirroredStrategy()\n", True),
        ("from tensorflow.distribute import get_strategy\n", True),
        ("tf.estimator.RunConfig(distribute=s)\n", True),
        ("s = getattr(tf.distribute, 'MirroredStrategy')()\n", True),
        ("def f(s: 'tf.distribute.Strategy'):\n    pass\n", True),
        ("s = f()  # tpudist: strategy\n", True),
        ("s = make()\n", False),
    ],
)
def test_programs_that_may_have_a_strategy(tmp_path, text, is_strategic):
    files = {"a.py": TF + text, "b.py": TF + "import a\n", "other.py": TF}
    found, path = facts(tmp_path, files)
    assert found.strategic == ({path("a.py"), path("b.py")} if is_strategic else set())
    assert found.names_strategies == is_strategic


def test_files_come_after_those_that_they_import(tmp_path):
    files = {
        "a.py": "import b\nfrom pkg import c\n",
        "b.py": "from pkg.c import d\n",
        "pkg/__init__.py": "from pkg import c\n",
        "pkg/c.py": "import pkg\n",  # a circle
        "z.py": "",
    }
    harness.put(tmp_path, files)
    codebase = codebases.CodeBase([str(tmp_path)])
    order = codebase.imported_first(str(tmp_path / name) for name in ("z.py", "a.py"))
    assert sorted(order) == sorted(str(tmp_path / name) for name in files)
    place = {name: order.index(str(tmp_path / name)) for name in files}
    assert place["z.py"] < place["pkg/c.py"] < place["b.py"] < place["a.py"]
