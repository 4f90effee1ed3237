"""Names of ``tf.contrib`` beside the strategy: where they lead, and stand-ins for the rest."""

import operator
import os
import subprocess
import sys
import textwrap
import types

import pytest

from tests.helpers.generations import second_generation
from tpudist import dropin, surfaces
from tpudist.dropin.finder import find_module
from tpudist.errors import ContribNameError, EraNameError
from tpudist.tfcompat import keras_packages

native = pytest.importorskip("tensorflow")

#: What code of 2017 to 2019 writes; each has to work with what every environment has.
STATEMENTS = [
    "from {tf}.contrib.training import HParams; assert HParams(a=1).parse('a=2').a == 2",
    "from {tf}.contrib.training.python.training import hparam; hparam.HParams(a=1)",
    "from {tf}.contrib.training.python.training import evaluation; evaluation.checkpoints_iterator",
    "from {tf}.contrib.framework import nest; assert nest.flatten([1, [2]]) == [1, 2]",
    "from {tf}.contrib.data import map_and_batch, AUTOTUNE, shuffle_and_repeat, unbatch",
    "from {tf}.contrib.data import parallel_interleave, batch_and_drop_remainder",
    "from {tf}.contrib.opt import LARSOptimizer, AdamWOptimizer, LazyAdamOptimizer",
    "from {tf}.contrib.opt.python.training.moving_average_optimizer import MovingAverageOptimizer",
    "from {tf}.contrib.distribute import MirroredStrategy, OneDeviceStrategy, DistributeConfig",
    "from {tf}.contrib.distribute.python import mirrored_strategy as m; m.MirroredStrategy",
    "from {tf}.contrib.distribute.python import values as v; v.PerDevice, v.MirroredVariable",
    "from {tf}.contrib.distribute.python import cross_tower_ops as c; c.AllReduceCrossTowerOps",
    "from {tf}.contrib.learn import ModeKeys; assert ModeKeys.INFER == 'infer'",
    "from {tf}.contrib import summary as s; s.scalar, s.always_record_summaries, s.all_summary_ops",
    "from {tf}.contrib.lookup import index_table_from_tensor",
    "from {tf}.contrib.util import constant_value, make_tensor_proto",
    "from {tf}.contrib.stateless import stateless_random_uniform",
    "from {tf}.contrib.tpu.python.tpu import tpu_function as f; f.get_tpu_context",
    "from {tf}.contrib.tpu.python.tpu.tpu_optimizer import CrossShardOptimizer",
    "from {tf}.contrib.tpu.python.ops import tpu_ops as o; o.cross_replica_sum; o.infeed_enqueue",
    "from {tf}.contrib.eager.python import tfe; tfe.Variable",
    "from {tf}.contrib import slim, layers, seq2seq, crf, image, quantize, rnn",
    "from {tf}.contrib.tensorboard.plugins import projector",
    "from {tf}.contrib import graph_editor as ge; f = lambda x=ge.sgv: x",
]


@pytest.mark.parametrize("statement", STATEMENTS)
def test_imports_of_the_time(statement):
    exec(compile(statement.format(tf="tpudist.contrib.tensorflow"), "script.py", "exec"), {})


@second_generation
@pytest.mark.parametrize("name", sorted(surfaces.WRITTEN))
def test_written_names(contrib, name):
    value = contrib
    for part in name.split("."):
        value = getattr(value, part)
    assert value is dropin.load(surfaces.WRITTEN[name])


@second_generation
@pytest.mark.parametrize("name", sorted(set(surfaces.LEADS) | set(surfaces.MOVED)))
def test_names_that_lead_elsewhere(contrib, name):
    if keras_packages.is_keras_3() and _leads_to(name).startswith("nn.rnn_cell."):
        with pytest.raises(EraNameError, match="tf_keras"):
            operator.attrgetter(name)(contrib)
        return
    value = operator.attrgetter(name)(contrib)
    assert not repr(value).endswith("which is gone>") or name in _LATER, value


def _leads_to(name):
    return surfaces.LEADS.get(name) or surfaces.MOVED[name]


#: Names whose home is newer, or gone again: ``tf.distributions`` in 2.x is not everywhere.
_LATER = frozenset(
    name for name in surfaces.MOVED if name.startswith(("contrib.rnn.", "contrib.cluster_resolver"))
)


@pytest.mark.parametrize("module", ["conv2d", "arg_scope", "l2_regularizer", "nets.vgg.vgg_16"])
@second_generation
def test_slim_is_tf_slim(contrib, module):
    slim = pytest.importorskip("tf_slim")
    found, expected = contrib.contrib.slim, slim
    if module.startswith("nets"):
        expected = pytest.importorskip("tf_slim.nets").vgg.vgg_16
        assert find_module("contrib", "contrib.slim.nets").vgg.vgg_16 is expected
    else:
        assert getattr(found, module) is getattr(expected, module)


@pytest.mark.parametrize(
    ("name", "home"),
    [
        ("contrib.gan", "tensorflow_gan"),
        ("contrib.tensorboard.plugins.projector", "tensorboard.plugins.projector"),
    ],
)
@second_generation
def test_modules_that_a_package_carries_on(contrib, monkeypatch, name, home):
    for end in [each for each, letter in enumerate(home) if letter == "."] + [len(home)]:
        monkeypatch.setitem(sys.modules, home[:end], types.ModuleType(home[:end]))
    sys.modules[home].make = lambda: home
    owners = operator.attrgetter(name.rpartition(".")[0])
    owners(contrib).__dict__.pop(name.rpartition(".")[2], None)
    assert find_module("contrib", name).make() == home
    assert operator.attrgetter(name)(contrib).make() == home
    del owners(contrib).__dict__[name.rpartition(".")[2]]
    contrib.contrib.__dict__.pop("tensorboard", None)


# Stand-ins.


@second_generation
def test_a_stand_in_can_be_read_and_raises_when_it_is_used(contrib):
    attention = contrib.contrib.seq2seq.AttentionWrapper
    default = lambda wrapper=attention: wrapper  # noqa: E731
    assert default() is attention
    assert not isinstance(3, attention)
    with pytest.raises(ContribNameError, match="tf.contrib.seq2seq.AttentionWrapper was called"):
        attention(1)
    with pytest.raises(NotImplementedError, match="was subclassed") as caught:

        class Mine(attention):
            pass

    assert "1.15" in caught.value.why
    assert caught.value.instead


@second_generation
def test_a_program_that_asks_is_told_the_truth(contrib):
    assert not hasattr(contrib.contrib, "seq2seq")
    assert getattr(contrib.contrib.rnn, "AttentionCellWrapper", None) is None
    assert hasattr(contrib.contrib, "training")
    assert hasattr(contrib.contrib.training, "HParams")
    assert hasattr(contrib.contrib.rnn, "BasicLSTMCell") != keras_packages.is_keras_3()
    with pytest.raises(ImportError):
        exec_lines("""
            try:
                from tpudist.contrib.tensorflow.contrib import seq2seq
            except ImportError:
                raise
        """)
    with pytest.raises(EraNameError):
        exec_lines("""
            from tpudist.contrib import tensorflow as tf
            try:
                tf.contrib.crf.crf_decode
            except AttributeError:
                raise
        """)


@second_generation
def test_asking_after_reading_gives_the_truth_still(contrib):
    contrib.contrib.seq2seq.BahdanauAttention
    exec("import tpudist.contrib.tensorflow.contrib.seq2seq", {})
    assert not hasattr(contrib.contrib, "seq2seq")
    exec("import tpudist.contrib.tensorflow.contrib.seq2seq", {})
    with pytest.raises(ImportError):
        exec_lines("""
            try:
                from tpudist.contrib.tensorflow.contrib import seq2seq
            except ImportError:
                raise
        """)


def exec_lines(text):
    """Executes a program of several lines, with its source where Python finds it."""
    import linecache

    text = textwrap.dedent(text)
    linecache.cache["program.py"] = (len(text), None, text.splitlines(True), "program.py")
    from tpudist.dropin import stand_ins

    stand_ins._guarded_lines.cache_clear()
    exec(compile(text, "program.py", "exec"), {})


@second_generation
@pytest.mark.parametrize("name", ["contrib.seq2seq.never", "contrib.never", "contrib.opt.Never"])
def test_what_never_was_is_an_error_when_it_is_read(contrib, name):
    with pytest.raises(EraNameError):
        exec("tf.%s" % name, {"tf": contrib})


@pytest.mark.slow
def test_a_script_with_a_fallback_takes_it(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import tensorflow as tf\n"
        "try:\n"
        "  from tensorflow.contrib import seq2seq\n"
        "except ImportError:\n"
        "  seq2seq = None\n"
        "print('RESULT', seq2seq is None, hasattr(tf.contrib, 'seq2seq'))\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "tpudist", "run", "--era", "contrib", str(script)],
        stdout=subprocess.PIPE,
        text=True,
        env=dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3"),
    )
    has = hasattr(native, "contrib")
    assert "RESULT %s %s" % (not has, has) in done.stdout
