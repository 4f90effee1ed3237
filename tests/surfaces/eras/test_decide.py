"""The era of a script, from its source alone."""

import sys

import pytest

from tpudist import surfaces
from tpudist.surfaces.eras import program


def names(found):
    return [(name.name, name.line) for name in found]


@pytest.mark.parametrize(
    ("era", "source", "decisive"),
    [
        (
            "contrib",
            """
        import tensorflow as tf
        s = tf.contrib.distribute.TPUStrategy(r, 1)
        """,
            ("tf.contrib.distribute.TPUStrategy", 3),
        ),
        ("contrib", "import tensorflow.contrib.distribute as d", ("tf.contrib.distribute", 1)),
        (
            "contrib",
            "from tensorflow.contrib.distribute.python import tpu_strategy",
            ("tf.contrib.distribute.python.tpu_strategy", 1),
        ),
        (
            "contrib",
            "from tensorflow.contrib import distribute as d\nd.TPUStrategy",
            ("tf.contrib.distribute", 1),
        ),
        (
            "contrib",
            "import tensorflow.compat.v1 as tf\ntf.contrib.slim.x()",
            ("tf.compat.v1.contrib.slim.x", 2),
        ),
        ("contrib", "import tensorflow as t\nwith t.Session() as s: pass", ("tf.Session", 2)),
        ("contrib", "from tensorflow import layers\nlayers.dense(x, 1)", ("tf.layers", 1)),
        (
            "contrib",
            "import tensorflow\ntensorflow.VariableAggregation.ONLY_FIRST_TOWER",
            ("tf.VariableAggregation.ONLY_FIRST_TOWER", 2),
        ),
        pytest.param(
            "contrib",
            "import tensorflow as tf\ndef f(a, b=tf.train, /, c=1): b.AdamOptimizer()",
            ("tf.train.AdamOptimizer", 2),
            marks=pytest.mark.skipif(sys.version_info < (3, 8), reason="came with Python 3.8"),
        ),
        (
            "contrib",
            "import tensorflow as tf\ndef f(a, *, b, c=tf.train): c.AdamOptimizer()",
            ("tf.train.AdamOptimizer", 2),
        ),
        ("contrib", "anything.call_for_each_tower(fn)", (".call_for_each_tower", 1)),
        ("contrib", "ctx.tower_id", (".tower_id", 1)),
        ("contrib", "self.strategy.read_var(x)", (".read_var", 1)),
        ("contrib", "strategy.call_for_each_replica(f)", (".call_for_each_replica", 1)),
        ("v2_0", "s.experimental_run_v2(f, args=(x,))", (".experimental_run_v2", 1)),
        ("v2_2", "strategy.run(f, args=(x,))", (".run", 1)),
        ("v2_2", "self._distribution_strategy.run(f)", (".run", 1)),
        (
            "v2_2",
            """
        import tensorflow as tf
        dist = tf.distribute.MirroredStrategy()
        dist.run(f)
        """,
            (".run", 4),
        ),
        ("v2_2", "dist = tf.distribute.get_strategy()\ndist.run(f)", (".run", 2)),
        ("v2_2", "d = tpu_strategy.TPUStrategyV2(r)\nd.run(f)", (".run", 2)),
        (
            "v2_2",
            "tpu.experimental_split_to_logical_devices(x, [1, 2])",
            (".experimental_split_to_logical_devices", 1),
        ),
        (
            "v2_2",
            "import tensorflow as tf\ntf.distribute.ValueContext",
            ("tf.distribute.ValueContext", 2),
        ),
    ],
)
def test_one_name_decides(write, era, source, decisive):
    found = program.read(write(script=source)).decision
    assert found.era == era
    assert names(found.decisive)[0] == decisive
    assert not found.outvoted


V1, TF, S = "import tensorflow.compat.v1 as tf\n", "import tensorflow as tf\n", "strategy."
CONTRIB = "s = tf.contrib.distribute.TPUStrategy(r)\n"
CLASS = "s = tf.distribute.experimental.TPUStrategy(r)\n"
V2_RUN, RUN = S + "experimental_run_v2(f)\n", S + "run(f)\n"


@pytest.mark.parametrize(
    ("era", "source"),
    [
        ("contrib", TF + CONTRIB + V2_RUN + S + "experimental_local_results(x)"),
        ("contrib", S + "read_var(x)\n" + V2_RUN),
        ("contrib", TF + "tf.Session()\n" + CLASS + V2_RUN),
        ("v2_0", TF + CLASS + V2_RUN),
        ("v2_0", V2_RUN),
        ("v2_2", TF + CLASS + V2_RUN + RUN),
        ("v2_2", "if hasattr(strategy, 'run'):\n  " + RUN + "else:\n  " + V2_RUN),
        ("v2_2", "go = getattr(strategy, 'run', None) or strategy.experimental_run_v2"),
        ("v2_2", TF + "s = tf.distribute.TPUStrategy(r)\n" + V2_RUN),
        ("v2_2", TF + CLASS + S + "experimental_run(f, it)\n" + RUN),
    ],
)
def test_names_that_eras_share(write, era, source):
    assert program.read(write(script=source)).decision.era == era


@pytest.mark.parametrize(
    "guarded",
    [
        "if tf.__version__ < '2': tf.enable_eager_execution()",
        "if LooseVersion(tf.VERSION) < '2.0': tf.app.run()",
        "if not TF2:\n  tf.logging.info('x')",
        "if is_v2_0():\n  pass\nelse:\n  tf.Session()",
        "if not compat.is_v1_apis():\n  pass\nelse:\n  tf.Session()",
        "if hasattr(tf, 'contrib'):\n  tf.contrib.distribute",
        "if not getattr(tf, 'contrib', None): pass",
        "try:\n  tf.contrib.distribute\nexcept AttributeError:\n  pass",
        "try:\n  from tensorflow.contrib import x\nexcept (KeyError, ImportError):\n  pass",
        "x = tf.contrib.distribute if hasattr(tf, 'contrib') else None",
    ],
)
def test_what_a_program_asks_for_first_decides_last(write, guarded):
    assert program.read(write(script=TF + guarded + "\n" + V2_RUN)).decision.era == "v2_0"
    assert program.read(write(script=TF + guarded)).decision.era == "contrib"


#: What a helper of TensorFlow 2 has kept: in a function that nothing calls, in one that is called.
KEPT = TF + "def old(): return tf.OptimizerOptions.ON_2\n"
USED = TF + "def send(errors):\n  if errors: tf.logging.error(errors)\n"
SECOND, V2 = "tf.random.set_seed(1)\n", "tf.compat.v1.enable_v2_behavior()\n"
CONNECT = TF + "def connect(r): tf.config.experimental_connect_to_host(r)\n"
OF_CONTRIB = TF + "def images(x): return tf.contrib.image.rotate(x, 1)\n"


@pytest.mark.parametrize(
    ("era", "script", "helper"),
    [
        ("v2_2", "", KEPT),
        ("v2_2", TF + SECOND + "helper.send(1)", USED),
        ("v2_0", V2_RUN + "helper.send(1)", USED),
        ("v2_2", TF + V2 + "helper.send(1)", USED),
        ("v2_2", "helper.connect(r)", CONNECT + KEPT),
        ("v2_2", "helper.connect(r), helper.send(1)", CONNECT + USED),
        ("v2_0", "helper.step(), helper.send(1)", "def step(): " + V2_RUN + USED),
        ("v2_2", TF + SECOND + "helper.images(1)", OF_CONTRIB),
        ("v2_2", TF + "tf.compat.v2.Variable(1)\nhelper.send(1)", USED),
        ("v2_2", "import tensorflow.compat.v2 as tf\ntf.Variable(1)\nhelper.send(1)", USED),
        ("contrib", "helper.send(1)", USED),
        ("contrib", "helper.images(1)", OF_CONTRIB),
        ("contrib", V2_RUN + "helper.images(1)", OF_CONTRIB),
        ("contrib", TF + "tf.logging.info('x')\nhelper.connect(r)", CONNECT),
        ("contrib", "", OF_CONTRIB),
        ("contrib", TF + "tf.app.run()", TF + "def late(): tf.random.set_seed(1)\n"),
        ("contrib", V1 + "tf.placeholder(x)\n" + V2_RUN, CONNECT),
        ("v2_2", V1 + "tf.distribute.cluster_resolver.TPUClusterResolver('')\nhelper.lars()", """
        import tensorflow.compat.v1 as tf
        def lars():
          try:
            from tensorflow.contrib.opt import LARSOptimizer
          except ImportError:
            pass
        """),
    ],
)  # fmt: skip
def test_what_the_script_does_comes_before_what_a_helper_has_kept(write, era, script, helper):
    path = write(script="import helper\n" + script, helper=helper)
    assert program.read(path).decision.era == era


@pytest.mark.parametrize(
    "helper",
    [
        "class A:\n  def __init__(self): tf.app.run()\nA()\n",
        "class A:\n  def go(self): tf.app.run()\nA().go()\n",
        "def f():\n  def g(): tf.app.run()\n  g()\nf()\n",
        "@register\ndef f(): tf.app.run()\n",
        "def f(): tf.app.run()\ngetattr(module, 'f')()\n",
        "def f(): tf.app.run()\nCALLS = {'x': f}\n",
        "if x:\n  tf.app.run()\n",
    ],
)
def test_what_calls_a_function(write, helper):
    assert program.read(write(script="import helper", helper=TF + helper)).decision.era == "contrib"


@pytest.mark.parametrize("script", ["contrib", "v2_2"])
def test_the_line_says_what_spoke_against_the_era(write, script):
    if script == "contrib":
        source = TF + CONTRIB + CLASS
        line = "contrib (tf.contrib.distribute.TPUStrategy at script.py:2); not 2.2 (tf.distribute."
        line += "experimental.TPUStrategy at script.py:3): --era overrides"
    else:
        source = TF + SECOND + "tf.logging.info('x')\n" + RUN
        line = "2.2 (.run at script.py:4); not contrib (tf.logging.info at script.py:3): --era"
    assert "era: " + line in program.describe(program.read(write(script=source)).decision)


@pytest.mark.parametrize("error", ["Exception", "KeyboardInterrupt", "tf.errors.OutOfRangeError"])
def test_other_exceptions_guard_nothing(write, error):
    source = TF + "try:\n  tf.Session()\nexcept %s:\n  pass\n" % error
    assert program.read(write(script=source + V2_RUN)).decision.era == "contrib"


@pytest.mark.parametrize("era", surfaces.ERAS)
@pytest.mark.parametrize(
    "statement",
    [
        "from tpudist.%s import tensorflow as tf",
        "import tpudist.%s.tensorflow as tf",
        "from tpudist import %s",
        "from tpudist.%s import TPUStrategy",
        "from tpudist.%s.tensorflow.keras import layers",
    ],
)
def test_a_file_may_state_its_era(write, era, statement):
    statement %= era
    found = program.read(write(script=statement + "\ntf.Session()\n" + RUN + V2_RUN)).decision
    assert found.era == era
    assert names(found.decisive) == [("tpudist." + era, 1)]


@pytest.mark.parametrize(
    ("era", "graph", "source"),
    [
        ("contrib", ["tf.compat.v1.Session"], V1 + CLASS + V2_RUN + "tf.Session()"),
        ("contrib", ["tf.compat.v1.placeholder"], V1 + "tf.placeholder(x)"),
        ("contrib", ["tf.compat.v1.placeholder"], TF + "tf.compat.v1.placeholder(x)\n" + V2_RUN),
        ("contrib", [".make_initializable_iterator"], "it = d.make_initializable_iterator()"),
        ("v2_2", ["tf.compat.v1.Session"], V1 + RUN + "tf.Session()"),
        ("v2_0", [], TF + V2_RUN + "tf.compat.v1.Session(config=c)"),
        ("v2_0", [], V1 + "tf.enable_v2_behavior()\n" + V2_RUN + "tf.Session()"),
        ("v2_2", [], V1 + RUN + "with tf.Graph().as_default(): tf.Session()"),
    ],
)
def test_a_program_that_leaves_its_graph_to_tensorflow_1(write, era, graph, source):
    found = program.read(write(script=source)).decision
    assert (found.era, [each.name for each in found.graph]) == (era, graph)


def test_names_of_two_eras_leave_the_newest(write):
    found = program.read(
        write(
            script="""
        import tensorflow as tf
        strategy = tf.distribute.experimental.TPUStrategy(resolver)
        strategy.reduce("SUM", x, axis=None)
        """
        )
    ).decision
    assert found.era == "v2_2"


def test_a_name_of_two_eras_leaves_the_one_that_has_all(write):
    found = program.read(
        write(
            script="""
        import tensorflow as tf
        strategy = tf.distribute.experimental.TPUStrategy(resolver)
        strategy.experimental_run_v2(f)
        """
        )
    ).decision
    assert found.era == "v2_0" and names(found.decisive) == [(".experimental_run_v2", 4)]


def test_the_newest_of_mixed_evidence(write):
    found = program.read(
        write(
            script="""
        import tensorflow as tf
        if old:
          s = tf.contrib.distribute.TPUStrategy(r, 1)
        else:
          strategy.run(f)
        """
        )
    ).decision
    assert found.era == "v2_2"
    assert names(found.decisive) == [(".run", 6)]
    assert names(found.outvoted) == [("tf.contrib.distribute.TPUStrategy", 4)]
    assert program.describe(found) == (
        "era: 2.2 (.run at script.py:6); not contrib "
        "(tf.contrib.distribute.TPUStrategy at script.py:4): --era overrides"
    )


def test_the_line_that_is_printed(write):
    found = program.read(
        write(
            script="""
        import tensorflow as tf
        tf.Session
        tf.Session
        tf.placeholder
        tf.app.run()
        tf.ConfigProto()
        """
        )
    ).decision
    assert program.describe(found) == (
        "era: contrib (tf.Session at script.py:3, tf.placeholder at script.py:5, and 2 more)"
    )


@pytest.mark.parametrize(
    "source",
    [
        "",
        "import tensorflow as tf\ntf.constant(1)",
        "import tensorflow as tf\ntf.VariableAggregation.SUM",
        "import tensorflow.compat.v1 as tf\ntf.disable_v2_behavior()\ntf.Session()",
        "import tensorflow as tf\ntf.compat.v1.Session()",
        "import tensorflow as tf\nwith tf.Graph().as_default(): tf.compat.v1.placeholder(x)",
        "strategy.experimental_local_results(x)",
        "subprocess.run(command)\nframe.map(f)\nmodel.update(x)\nlog.group()",
        "s.make_dataset_iterator(d)\nstrategy.unwrap(x)\nstrategy.experimental_run(f, it)",
        "strategy.reduce(a, b)\nstrategy.scope()\nstrategy.num_replicas_in_sync",
        "strategy.extended.colocate_vars_with(v)",
        "strategy.extended.call_for_each_replica(f)",
        "tf.Session()",
        "from .tensorflow import contrib",
        "import tensorflow_probability as tf\ntf.contrib",
        "'tf.contrib.distribute.TPUStrategy'",
    ],
)
def test_names_that_tell_nothing_leave_the_newest(write, source):
    found = program.read(write(script=source)).decision
    assert (found.era, found.decisive, found.outvoted, found.graph) == ("v2_2", [], [], [])
    assert program.describe(found) == (
        "era: 2.2, the newest: no name tells one (--era contrib|2.0|2.2)"
    )
