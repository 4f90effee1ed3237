"""``tpudist run --compile``: every replica function of an unmodified script."""

import json
import os
import re
import subprocess
import sys
import textwrap

import pytest
import tensorflow as tf

from tests import ROOT
from tests.tools.compile import harness
from tpudist import cli
from tpudist.tools.compile.lowering import recording
from tpudist.virtual.replicas import replicate

pytestmark = [pytest.mark.slow, harness.lowers_here]

SETUP = """
    import tensorflow as tf
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="my-tpu")
    tf.config.experimental_connect_to_cluster(resolver)
    tf.tpu.experimental.initialize_tpu_system(resolver)
    strategy = tf.distribute.experimental.TPUStrategy(resolver)
    """

TRAINS = (
    SETUP
    + """
    made = []

    @tf.function
    def train(x):
        scale = x * 0. + 2.

        def step_fn(x):
            if not made:
                made.append(tf.Variable(tf.ones([4, 4]), name="weight"))
            made[0].assign_sub(.1 * tf.matmul(x, made[0]))
            return tf.reduce_sum(made[0] * scale)
        losses = strategy.experimental_run_v2(step_fn, args=(x,))
        return strategy.reduce("SUM", losses, axis=None)

    for _ in range(2):
        print("loss %.2f" % float(train(tf.ones([4, 4]))))
    """
)

PRINTS = (
    SETUP
    + """
    @tf.function
    def step(x):
        tf.print("in the step")
        return x
    strategy.experimental_run_v2(step, args=(tf.ones([4]),))
    strategy.experimental_run_v2(tf.function(lambda x: x * 2.), args=(tf.ones([4]),))
    """
)

LOOPS = """
    import tensorflow as tf
    resolver = tf.contrib.cluster_resolver.TPUClusterResolver("my-tpu")
    distribution = tf.contrib.distribute.TPUStrategy(resolver)

    def tower(x):
        weight = tf.get_variable("weight", [4, 3])
        bias = tf.get_variable("bias", [3])
        loss = tf.reduce_mean((tf.matmul(x, weight) + bias) ** 2)
        train = tf.train.MomentumOptimizer(.1, .9).minimize(loss)
        with tf.control_dependencies([train]):
            return tf.identity(loss)

    def step(context, x):
        losses = distribution.call_for_each_tower(tower, x)
        context.set_last_step_output("loss", losses, tf.VariableAggregation.MEAN)

    with distribution.scope():
        dataset = distribution.distribute_dataset(
            lambda: tf.data.Dataset.from_tensors(tf.ones([8, 4])).repeat())
        context = distribution.run_steps_on_dataset(
            step, dataset.make_one_shot_iterator(), 3)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            session.run(context.run_op)
            print("ran %d variables" % len(tf.global_variables()))
    """


ESTIMATORS = """
    import sys, tempfile
    import tensorflow as tf

    def model_fn(features, labels, mode, params):
        weight = tf.get_variable("weight", [4, 3])
        loss = tf.reduce_mean((tf.matmul(features, weight) - labels) ** 2)
        optimizer, step = tf.train.MomentumOptimizer(.1, .9), tf.train.get_global_step()
        if "batch_size" not in params:
            return tf.estimator.EstimatorSpec(
                mode, loss=loss, train_op=optimizer.minimize(loss, step))
        optimizer = tf.contrib.tpu.CrossShardOptimizer(optimizer)
        return tf.contrib.tpu.TPUEstimatorSpec(
            mode, loss=loss, train_op=optimizer.minimize(loss, step))

    def input_fn(params):
        rows = tf.data.Dataset.from_tensors((tf.ones([4]), tf.zeros([3]))).repeat()
        return rows.batch(params.get("batch_size", 2), drop_remainder=True)

    resolver, folder = tf.contrib.cluster_resolver.TPUClusterResolver("my-tpu"), tempfile.mkdtemp()
    if sys.argv[1] == "tpu":
        config = tf.contrib.tpu.RunConfig(cluster=resolver, model_dir=folder)
        made = tf.contrib.tpu.TPUEstimator(model_fn, config=config, train_batch_size=16)
    else:
        strategy = tf.contrib.distribute.TPUStrategy(resolver)
        config = tf.estimator.RunConfig(model_dir=folder, train_distribute=strategy)
        made = tf.estimator.Estimator(model_fn, config=config, params={})
    made.train(input_fn, max_steps=4)
    print("trained %d steps" % made.get_variable_value("global_step"))
    """


@pytest.fixture
def run(tmp_path):
    """Runs ``tpudist run`` on a source in a Python of its own."""

    def made(source, *options, given=()):
        path = tmp_path / "script.py"
        path.write_text(textwrap.dedent(source))
        environment = dict(os.environ, PYTHONPATH=ROOT, TF_CPP_MIN_LOG_LEVEL="3")
        environment.pop("TPUDIST_TPU", None)
        return subprocess.run(
            [sys.executable, "-m", "tpudist", "run", *options, str(path), *given],
            capture_output=True,
            text=True,
            env=environment,
        )

    return made


def losses(done):
    return [line for line in done.stdout.splitlines() if line.startswith("loss")]


def test_a_training_script_runs_unchanged_and_its_step_compiles(compiler, run):
    done = run(TRAINS, "--compile", "v5e:2x4", "--fast", "--era", "2.0")
    assert done.returncode == 0, done.stderr
    assert "compiled for v5e:2x4: 1 replica function\n" in done.stdout
    assert "step_fn (" in done.stdout and "compiles: v5e:2x4" in done.stdout
    assert "float32[4,4]  variable weight" in done.stdout
    assert "autograph" not in done.stdout
    plain = run(TRAINS, "--tpu", "virtual:8", "--era", "2.0")
    assert len(losses(done)) == 2 and losses(done) == losses(plain)


def test_a_function_that_does_not_compile_is_exit_code_1(compiler, run, tmp_path):
    path = str(tmp_path / "report.json")
    done = run(PRINTS, "--compile", "v3-8", "--fast", "--era", "2.0", "--json", path)
    assert done.returncode == 1
    assert "2 replica functions" in done.stdout
    line = PRINTS[: PRINTS.index("tf.print")].count("\n") + 1
    assert "script.py:%d: StringFormat, PrintV2: a TPU prints" % line in done.stdout
    assert "compiles: v3:2x2" in done.stdout
    with open(path) as file:
        written = json.load(file)
    ((refused,), (compiled,)) = written["refused"], written["reports"]
    assert refused["line"] == line and refused["file"].endswith("script.py")
    assert refused["function"].startswith("step (") and compiled["ok"]
    assert "a TPU prints" in refused["cause"] and "outside of it" in refused["advice"]


def test_a_graph_with_a_loop_of_steps(compiler, run):
    done = run(LOOPS, "--compile", "v5e:2x4", "--fast")
    assert done.returncode == 0, done.stderr
    assert "ran 4 variables" in done.stdout
    assert "1 replica function\n" in done.stdout
    assert "variable weight/Momentum" in done.stdout


@pytest.mark.parametrize("how", ["tpu", pytest.param("distribute", marks=pytest.mark.proof)])
def test_the_step_of_an_estimator(compiler, run, how):
    done = run(ESTIMATORS, "--compile", "v5e:2x4", "--fast", given=[how])
    assert done.returncode == 0, done.stderr
    assert "trained 4 steps\n" in done.stdout
    assert "1 replica function\n" in done.stdout and "compiles: v5e:2x4" in done.stdout
    line = ESTIMATORS[: ESTIMATORS.index("def model_fn")].count("\n") + 1
    assert re.search(r"^model_fn \(\S+script.py:%d\)$" % line, done.stdout, re.MULTILINE)
    assert "argument labels" in done.stdout and "asked for 1 all-reduce" in done.stdout
    assert "float32[4,3]  variable weight/Momentum" in done.stdout


@pytest.mark.proof
def test_a_script_without_replicas_is_exit_code_1(run):
    done = run("print('hello')", "--compile", "v5e:2x4", "--era", "2.2")
    assert done.returncode == 1 and "ran no function on replicas" in done.stderr


@pytest.mark.proof
def test_the_exit_code_of_the_script_has_precedence(run):
    assert run("raise SystemExit(7)", "--compile", "v5e:2x4", "--era", "2.2").returncode == 7


def test_an_unknown_slice_is_refused_before_the_script_runs(capsys):
    assert cli.main(["run", "--compile", "v9-8", "nowhere.py"]) == 2
    assert "v9-8" in capsys.readouterr().err


@pytest.mark.proof
def test_several_functions_are_in_one_file_and_have_limits(compiler, run, tmp_path):
    path = str(tmp_path / "report.json")
    two = (
        TRAINS
        + """
    @tf.function
    def evaluate(x):
        return strategy.experimental_run_v2(lambda y: tf.reduce_sum(made[0] * y), args=(x,))
    evaluate(tf.ones([4, 4]))
    """
    )
    done = run(two, "--compile", "v5e:2x4", "--fast", "--era", "2.0", "--json", path)
    assert done.returncode == 0, done.stderr
    with open(path) as file:
        names = [each["name"] for each in json.load(file)["reports"]]
    assert len(names) == 2 and "step_fn" in names[0]
    more = ("--baseline", path, "--max-hbm", "1KiB")
    done = run(two, "--compile", "v5e:2x4", "--fast", "--era", "2.0", *more)
    assert done.returncode == 1 and done.stderr.count("more than --max-hbm 1KiB") == 2
    assert "did before" not in done.stderr


@pytest.mark.proof
def test_a_strategy_that_does_not_fit_the_slice_ends_the_script(compiler, run):
    done = run(TRAINS, "--compile", "v5e:2x2", "--tpu", "virtual:8", "--era", "2.0")
    assert done.returncode == 2 and losses(done) == []
    assert "8 replicas x 1 logical devices on v5e:2x2" in done.stderr


def test_recorded_names_and_lines():
    strategy = harness.strategy()

    @tf.function
    def run_step(x):
        return strategy.run(lambda y: y + 1.0, args=(x,))

    with recording.Recorder() as recorder:
        run_step(tf.ones([2]))
        run_step(tf.ones([2]))
        run_step(tf.ones([3]))
    run_step(tf.ones([4]))
    found = recorder.programs()
    assert sorted(each.program.parameters[0].shape for each in found) == [(2,), (3,)]
    assert all("test_run_command.py:" in each.name for each in found)
    assert not replicate.observers
