"""``tpudist compile`` and ``tpudist.compile_step`` from the command line to the report."""

import json
import os
import re
import sys
import textwrap

import pytest
import tensorflow as tf

import tpudist
from tests.tools.compile import harness
from tpudist import cli
from tpudist.errors import CompileError, TopologyError
from tpudist.tools.compile.command import compile_command
from tpudist.tools.compile.compiler import compilation

pytestmark = harness.lowers_here

SCRIPT = """
    import tensorflow as tf

    resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="my-tpu")
    tf.config.experimental_connect_to_cluster(resolver)
    tf.tpu.experimental.initialize_tpu_system(resolver)
    strategy = tf.distribute.experimental.TPUStrategy(resolver)
    with strategy.scope():
        weight = tf.Variable(tf.ones([4, 3]), name="weight")

    class Trainer:
        def step(self, images, labels):
            loss = tf.reduce_mean((tf.matmul(images, weight) - labels) ** 2)
            context = tf.distribute.get_replica_context()
            return context.all_reduce(tf.distribute.ReduceOp.SUM, loss)

    trainer = Trainer()
    step_fn = trainer.step

    @tf.function
    def train_step(x):
        return strategy.run(trainer.step, args=(x, x))

    def bad_step(x):
        tf.print(x)
        return x

    if __name__ == "__main__":
        raise SystemExit("compiling must not run the script")
"""
ARGS = "f32[16,4],labels=f32[16,3]"


@pytest.fixture
def script(tmp_path, monkeypatch):
    """Writes a script; returns its path."""
    monkeypatch.delenv("TPUDIST_TPU", raising=False)

    def write(source=SCRIPT):
        path = tmp_path / "train.py"
        path.write_text(textwrap.dedent(source))
        return str(path)

    return write


@pytest.mark.slow
@pytest.mark.parametrize(
    ("pod", "shape", "replicas"),
    [("v3-32", "v3:4x4", 32), ("v4-32", "v4:2x2x4", 16), ("v5e:4x8", "v5e:4x8", 32)],
)
def test_a_slice_of_several_hosts(script, compiler, capsys, pod, shape, replicas):
    line = ["compile", "--fast", "--tpu", pod, script() + ":step_fn", "--args", ARGS]
    assert cli.main(line) == 0
    printed = capsys.readouterr().out
    assert re.search("compiles: %s .*%d replicas" % (re.escape(shape), replicas), printed)
    assert "1 all-reduce" in printed


def test_a_step_is_reported(script, compiler, tmp_path, capsys):
    path = script()
    output = str(tmp_path / "report.json")
    line = ["compile", "--fast", "--topology", "v5e:2x4", path + ":step_fn", "--args", ARGS]
    assert cli.main([*line, "--json", output]) == 0
    printed = capsys.readouterr().out
    assert "compiles: v5e:2x4" in printed and "8 replicas" in printed
    assert "weight" in printed and "1 all-reduce" in printed
    with open(output) as file:
        assert json.load(file)["ok"] is True
    assert "train" not in sys.modules and "TPUDIST_TPU" not in os.environ


@pytest.mark.parametrize(
    ("options", "replicas"), [(["--tpu", "v3-8"], 8), (["--topology", "v4:2x2x1"], 4)]
)
def test_replicas_follow_the_slice(script, compiler, capsys, options, replicas):
    assert (
        cli.main(["compile", "--fast", script() + ":trainer.step", "--args", ARGS] + options) == 0
    )
    assert "%d replicas" % replicas in capsys.readouterr().out


def test_a_file_of_no_era_is_taken_for_the_newest(script, capsys):
    path = script("import tensorflow as tf\ndef step_fn(x): return tf.as_string(x)\n")
    assert cli.main(["compile", path + ":step_fn", "--args", "f32[4]"]) == 1
    err = capsys.readouterr().err
    assert "era: 2.2, the newest: no name tells one (--era contrib|2.0|2.2)" in err
    assert "AsString: a TPU has no" in err  # it was traced


def test_a_step_that_cannot_be_lowered_is_exit_code_1(script, capsys):
    path = script()
    assert cli.main(["compile", path + ":bad_step", "--args", "f32[4]"]) == 1
    line = SCRIPT[: SCRIPT.index("tf.print")].count("\n") + 1
    assert "train.py:%d: StringFormat, PrintV2: a TPU prints" % line in (capsys.readouterr().err)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["x.py:step_fn"], "no file x.py"),
        (["train.py"], "path/to/train.py:step_fn"),
        (["{}:missing", "--args", ARGS], "defines no such function"),
        (["{}:train_step", "--args", "f32[4]"], "tpudist run --compile"),
        (["{}:step_fn", "--args", "f33[2]"], "no dtype 'f33'"),
        (["{}:step_fn", "--topology", "v9:2x2"], "v9:2x2"),
    ],
)
def test_wrong_command_lines_are_refused(script, capsys, arguments, message):
    path = script()
    assert cli.main(["compile"] + [each.format(path) for each in arguments]) == 2
    assert message in capsys.readouterr().err


def test_an_error_of_the_file_is_raised(script):
    path = script("import tensorflow as tf\n\ntf.zeros(3).no_such_thing()\ndef step(): pass\n")
    with pytest.raises(AttributeError, match="no_such_thing"):
        cli.main(["compile", path + ":step"])


def test_several_strategies_are_refused(script, capsys):
    path = script(SCRIPT + "    other = tf.distribute.experimental.TPUStrategy(resolver)\n")
    assert cli.main(["compile", path + ":step_fn", "--args", ARGS]) == 2
    assert "several strategies: other, strategy" in capsys.readouterr().err


def test_a_file_without_a_strategy_gets_one(script):
    path = script("""
        import tensorflow as tf

        def step(x):
            context = tf.distribute.get_replica_context()
            return context.all_reduce(tf.distribute.ReduceOp.SUM, x)
        """)
    with compile_command.executed(path + ":step", "2.2", "virtual:4") as (module, fn):
        strategy = compile_command.strategy_of(module)
        program = harness.lower(strategy, fn, tf.ones([4]))
    assert (program.replicas, program.partitions) == (4, 1)
    assert len(program.collectives) == 1


def test_graphs_of_the_contrib_era(script):
    path = script("""
        import tensorflow as tf
        resolver = tf.contrib.cluster_resolver.TPUClusterResolver("my-tpu")
        distribution = tf.contrib.distribute.TPUStrategy(resolver)

        def tower(x):
            weight = tf.get_variable("weight", [4, 3])
            return tf.matmul(x, weight)
        """)
    with compile_command.executed(path + ":tower", None, "virtual:8") as (module, fn):
        strategy = compile_command.strategy_of(module)
        program = harness.lower(strategy, fn, tf.TensorSpec([2, 4], tf.float32))
    assert [each.name for each in program.parameters] == ["x", "weight"]
    assert harness.results(program) == [(2, 3)]


def test_compile_step_from_python(compiler):
    report = tpudist.compile_step(
        harness.strategy(),
        lambda x: tf.matmul(x, x),
        (tf.TensorSpec([8, 8], tf.float32),),
        topology="v6e-8",
        fast=True,
    )
    assert report.ok and report.target.replicas == 8
    assert "compile_step" in dir(tpudist)


def test_replicas_that_do_not_fit_are_refused_before_any_trace():
    def step():
        raise AssertionError("traced")

    with pytest.raises(TopologyError, match="8 replicas"):
        tpudist.compile_step(harness.strategy(), step, topology="v5e:2x2")


def test_an_unsupported_op_is_refused_before_any_compiler(monkeypatch):
    monkeypatch.setenv("TPUDIST_LIBTPU", os.path.join(os.sep, "nowhere"))
    with pytest.raises(CompileError, match="PrintV2"):
        tpudist.compile_step(harness.strategy(), lambda x: tf.print(x), (tf.ones([2]),))


def test_ctrl_c_while_the_compiler_works(script, monkeypatch, capsys):
    def interrupted(*unused, **also_unused):
        raise KeyboardInterrupt

    monkeypatch.setattr(compilation, "compile_program", interrupted)
    assert cli.main(["compile", script() + ":step_fn", "--args", ARGS]) == 130
    assert capsys.readouterr().err.endswith("tpudist: interrupted\n")
