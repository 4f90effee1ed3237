"""``tpudist run``: unmodified scripts, their exit codes, and no trace left."""

import builtins
import os
import subprocess
import sys

import pytest

from tests import ROOT
from tests.helpers.generations import second_generation
from tests.legacy.harness import in_a_process
from tpudist import machine
from tpudist.legacy import runner
from tpudist.surfaces.eras import evidence, program
from tpudist.tfcompat import versions

starts_eager = pytest.mark.skipif(
    not versions.TF2, reason="TensorFlow 1 starts eager execution before the first graph only"
)

tf = pytest.importorskip("tensorflow")


def state():
    modules = {
        name: module
        for name, module in list(sys.modules.items())
        if not name.startswith(("tensorflow", "keras", "absl"))
    }
    return (
        sys.argv,
        list(sys.path),
        dict(os.environ),
        builtins.__import__,
        sys.modules["__main__"],
        tf.executing_eagerly(),
        set(modules) & {"helper", "script"},
        isinstance(tf.TensorShape([1])[0], int),
    )


GRAPH_SCRIPT = """
    from __future__ import print_function
    import tensorflow as tf
    import helper

    tf.app.flags.DEFINE_integer("steps", 3, "Steps.")
    FLAGS = tf.app.flags.FLAGS

    def main(argv):
      tf.reset_default_graph()
      x = tf.placeholder(tf.float32, [None, 2])
      w = tf.get_variable("w", [x.shape[1].value, 1],
                          initializer=tf.zeros_initializer())
      loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - 1.))
      train = tf.train.GradientDescentOptimizer(.1).minimize(loss)
      with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(FLAGS.steps):
          session.run(train, {x: helper.batch()})
        value = session.run(loss, {x: helper.batch()})
      print("loss %.3f after %d steps of %s" % (value, FLAGS.steps, argv[1:]))
      return 5

    if __name__ == "__main__":
      tf.app.run()
    """
HELPER = """
    import tensorflow as tf
    assert tf.placeholder, "the drop-in, here too"
    def batch():
      return [[1., 2.], [2., 1.]]
    """


def test_a_graph_script_with_flags_and_a_module_beside_it(script, capsys):
    path = script(GRAPH_SCRIPT, helper=HELPER)
    before = state()
    for steps, loss in ((1, "0.010"), (2, "0.000")):  # Twice in one process.
        assert runner.run(path, ["--steps=%d" % steps, "rest"]) == 5
        out, err = capsys.readouterr()
        assert out == "loss %s after %d steps of ['rest']\n" % (loss, steps)
        assert "era: contrib (tf.app.flags.DEFINE_integer at script.py:6" in err
        assert state() == before


def test_a_script_that_is_part_of_a_package_has_the_packages_files(tmp_path, monkeypatch, capsys):
    package = tmp_path / "codebase"
    for folder in (package, package / "layers", package / "training"):
        folder.mkdir()
        (folder / "__init__.py").write_text("")
    (package / "layers" / "dense.py").write_text("import tensorflow as tf\n")
    (tmp_path / "elsewhere.py").write_text("import tensorflow as tf\n")
    (package / "training" / "main.py").write_text(
        "import tensorflow as tf, elsewhere\n"
        "from codebase.layers import dense\n"
        "print(dense.tf is tf, elsewhere.tf is tf)\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    assert runner.run(str(package / "training" / "main.py"), (), "contrib") == 0
    assert capsys.readouterr().out == "True True\n"


def test_what_a_script_sees(script, capsys):
    path = script("""
        import os, sys
        import tensorflow as tf
        print(__name__, os.path.basename(__file__), sys.argv[1:],
              sys.path[0] == os.path.dirname(os.path.abspath(__file__)),
              sys.modules["__main__"].tf is tf, os.environ.get("TPUDIST_TPU"),
              __package__, tf.__name__)
        """)
    before = state()
    assert runner.run(path, ("-a", "b"), "contrib", "virtual:2") == 0
    assert capsys.readouterr().out == (
        "__main__ script.py ['-a', 'b'] True True virtual:2 None tpudist.contrib.tensorflow\n"
    )
    assert state() == before


def test_a_link_to_a_script_runs_it_where_it_is(script, tmp_path_factory, capsys):
    path = script(
        "import helper\nimport tensorflow as tf\nprint(tf.__name__)",
        helper="import tensorflow.contrib.distribute",
    )
    link = tmp_path_factory.mktemp("links") / "link.py"
    link.symlink_to(path)
    assert runner.run(str(link)) == 0
    assert capsys.readouterr().out == "tpudist.contrib.tensorflow\n"


def test_tpu_of_the_environment_is_kept(script, monkeypatch, capsys):
    monkeypatch.setenv(machine.TPU, "virtual:4")
    path = script("import os; print(os.environ['TPUDIST_TPU'])")
    assert runner.run(path, era="contrib") == 0
    assert runner.run(path, era="contrib", tpu="virtual:8") == 0
    assert capsys.readouterr().out.split() == ["virtual:4", "virtual:8"]
    assert os.environ[machine.TPU] == "virtual:4"


@pytest.mark.parametrize(
    ("source", "code", "err"),
    [
        ("", 0, ""),
        ("import sys; sys.exit()", 0, ""),
        ("import sys; sys.exit(0)", 0, ""),
        ("import sys; sys.exit(7)", 7, ""),
        ("import sys; sys.exit(True)", 1, ""),
        ("import sys; sys.exit('no data')", 1, "no data\n"),
        ("raise SystemExit", 0, ""),
        ("import os; os.environ['TPUDIST_TPU'] = 'mine'", 0, ""),
        ("import sys; sys.argv.append('x'); sys.path.insert(0, '/nowhere')", 0, ""),
        ("import builtins; builtins.__import__ = None", 0, ""),
    ],
)
def test_exit_codes(script, capsys, source, code, err):
    before = state()
    assert runner.run(script(source), era="contrib") == code
    assert capsys.readouterr().err == err
    assert state() == before


def test_an_uncaught_exception_shows_the_users_frames(script, capsys):
    path = script(
        """
        import helper
        def main():
          helper.load("data")
        main()
        """,
        helper="""
        import tensorflow
        def load(name):
          raise KeyError(name)
        """,
    )
    before = state()
    assert runner.run(path, era="contrib") == 1
    err = capsys.readouterr().err
    assert err.splitlines()[0] == "Traceback (most recent call last):"
    assert err.splitlines()[-1] == "KeyError: 'data'"
    assert err.count("  File ") == 3
    for line in ('script.py", line 5', 'script.py", line 4', 'helper.py", line 4'):
        assert line in err
    assert state() == before


def test_an_error_at_import_shows_no_frame_of_the_hook(script, capsys):
    path = script(
        "import tensorflow as tf\nimport helper", helper="import tensorflow.no_such_module"
    )
    assert runner.run(path, era="contrib") == 1
    err = capsys.readouterr().err
    assert 'helper.py", line 1' in err and "ModuleNotFoundError" in err
    assert "hook.py" not in err and "finder.py" not in err


@second_generation
@pytest.mark.parametrize(
    "source",
    [
        "from tensorflow.contrib import seq2seq",
        "import tensorflow.contrib.seq2seq as seq2seq",
        "import tensorflow as tf\nseq2seq = tf.contrib.seq2seq",
    ],
)
def test_a_gone_name_that_is_used_ends_the_script_saying_where_it_went(script, capsys, source):
    assert runner.run(script(source)) == 0
    assert runner.run(script(source + "\nseq2seq.AttentionWrapper(1)")) == 1
    err = capsys.readouterr().err
    assert "tf.contrib.seq2seq.AttentionWrapper" in err and "addons" in err.lower()
    assert err.count("Traceback") == 1


@second_generation
def test_scripts_that_try_a_gone_import(script, capsys):
    path = script("""
        try:
          from tensorflow.contrib import seq2seq
        except ImportError:
          seq2seq = None
        import tensorflow as tf
        print(seq2seq, hasattr(tf.contrib, "crf"))
        """)
    assert runner.run(path) == 0
    assert capsys.readouterr().out == "None False\n"


@second_generation
@pytest.mark.parametrize("era", ["2.0", "2.2"])
def test_2_eras(script, capsys, era):
    path = script("""
        import tensorflow as tf
        @tf.function
        def double(x):
          return 2 * x
        print(tf.__name__, double(tf.constant(4)).numpy())
        """)
    assert runner.run(path, era=era) == 0
    assert capsys.readouterr().out == ("tpudist.v%s.tensorflow 8\n" % era.replace(".", "_"))


@pytest.mark.slow
def test_2_eras_in_a_process_of_their_own(script):
    process = in_a_process(
        script("""
        import numpy as np
        import tensorflow as tf
        strategy = tf.distribute.get_strategy()
        assert hasattr(strategy, "scope") or strategy.run
        model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        model.compile("sgd", "mse")
        model.fit(np.ones([4, 2], "f"), np.ones([4, 1], "f"), verbose=0)
        print(tf.__name__, tf.executing_eagerly(), (tf.constant(4) * 2).numpy())
        """)
    )
    assert process.returncode == 0, process.stderr
    assert process.stdout == "tpudist.v2_2.tensorflow True 8\n"
    assert "era: 2.2 (.run at script.py:5)" in process.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("{folder}/none.py",), ["no file", "none.py"]),
        (("{folder}",), ["is a folder", "train.py"]),
        (("{script}", (), "1.15"), ["--era 1.15", "contrib, 2.0 and 2.2"]),
        (("{folder}/helper.py", (), "contrib"), ["helper.py:1 is not Python 3", "2to3"]),
        (("{folder}/helper.py",), ["helper.py:1 is not Python 3", "2to3"]),
    ],
)
def test_misuse_is_one_message_and_2(script, tmp_path, capsys, arguments, words):
    path = script("x = 1", helper="print 'x'")
    before = state()
    arguments = [
        part.format(folder=tmp_path, script=path) if isinstance(part, str) else part
        for part in arguments
    ]
    assert runner.run(*arguments) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("tpudist run: ")
    assert "Traceback" not in err
    for word in words:
        assert word in err
    assert state() == before


@starts_eager
def test_a_call_of_a_bare_name_is_no_name_of_tensorflows(script, capsys):
    path = script("def get(x):\n  return x\nprint(get('a'))")
    for era in (None, "contrib"):
        assert runner.run(path, era=era) == 0
        assert capsys.readouterr().out == "a\n"


@starts_eager
def test_what_cannot_be_read_stops_nothing_and_with_an_era_nothing_is_read(
    script, capsys, monkeypatch
):
    def failing(*_):
        raise AttributeError("a fault")

    path = script("print('ran')")
    monkeypatch.setattr(evidence, "uses", failing)
    assert runner.run(path) == 0
    out, err = capsys.readouterr()
    assert out == "ran\n"
    assert err.count("script.py cannot be read (AttributeError: a fault)") == 1
    monkeypatch.setattr(program, "read", failing)
    assert runner.run(path, era="contrib") == 0
    assert capsys.readouterr() == ("ran\n", "")


def test_ctrl_c_before_the_script_begins_is_one_line(script, monkeypatch, capsys):
    def interrupted(*unused):
        raise KeyboardInterrupt

    monkeypatch.setattr(runner, "_prepare", interrupted)
    assert runner.run(script("print('ran')"), era="contrib") == 130
    assert capsys.readouterr() == ("", "tpudist: interrupted\n")


def test_keyboard_interrupt_passes_and_all_is_undone(script):
    before = state()
    with pytest.raises(KeyboardInterrupt):
        runner.run(script("raise KeyboardInterrupt"), era="contrib")
    assert state() == before


def test_without_tensorflow(script):
    code = (
        "import sys; sys.modules['tensorflow'] = None\n"
        "from tpudist.legacy import runner\n"
        "sys.exit(runner.run(%r, (), 'contrib'))" % script("x = 1")
    )
    process = subprocess.run(
        [sys.executable, "-c", code],
        stderr=subprocess.PIPE,
        text=True,
        env=dict(os.environ, PYTHONPATH=ROOT),
    )
    assert process.returncode == 2
    assert "tpudist[tensorflow]" in process.stderr


@pytest.mark.parametrize("level", [None, "0"])
def test_tensorflow_logs_no_information(tmp_path, monkeypatch, capsys, level):
    script = tmp_path / "script.py"
    script.write_text("import os; print('level', os.environ['TF_CPP_MIN_LOG_LEVEL'])\n")
    monkeypatch.delenv("TF_CPP_MIN_LOG_LEVEL", raising=False)
    if level is not None:
        monkeypatch.setenv("TF_CPP_MIN_LOG_LEVEL", level)
    assert runner.run(str(script), era="contrib") == 0
    assert "level %s" % (level or "1") in capsys.readouterr().out
    assert os.environ.get("TF_CPP_MIN_LOG_LEVEL") == level
