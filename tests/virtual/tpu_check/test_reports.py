"""Where and how often it is told what a TPU would refuse."""

import logging

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.python.eager import context

import tpudist
from tests.helpers.generations import second_generation
from tests.virtual import harness
from tpudist import machine
from tpudist.errors import ArgumentError, CompileError
from tpudist.tfcompat import versions

pytestmark = second_generation

LINE = "a TPU has no strings; move it out of the replica function"


def length(x):
    return tf.cast(tf.strings.length(tf.strings.as_string(x)), tf.float32)


def run(strategy, fn):
    """The first replica's result of `fn`, which gets the number 1.5."""
    values = np.full([harness.CORES], 1.5, np.float32)
    result = harness.graph(lambda x: strategy.run(fn, args=(x,)))(
        harness.distributed(strategy, values)
    )
    return strategy.experimental_local_results(result)[0].numpy()


def test_each_cause_is_told_once(strategy, lines):
    for _ in range(2):
        assert run(strategy, lambda x: length(x) + length(-x)) == 17.0
    (line,) = lines()
    assert line.startswith(__file__) and LINE in line


def test_a_check_that_fails_says_so_and_the_program_runs_on(strategy, monkeypatch, capfd):
    from tpudist.virtual.tpu_check import causes

    def fails(*unused):
        raise KeyError("this")

    monkeypatch.setenv(machine.TPU_CHECK, "warn")
    monkeypatch.setenv(machine.STRICT_BATCHING, "0")
    monkeypatch.setattr(causes, "of", fails)
    assert run(strategy, lambda x: x * 2) == 3.0
    assert "is not known, the check of it failed: KeyError: 'this'" in capfd.readouterr().err


def test_the_list_has_its_parts(strategy, lines):
    run(strategy, length)
    (cause,) = tpudist.tpu_refusals()
    place = "%s:%d" % (__file__, length.__code__.co_firstlineno + 1)
    assert (cause.place, cause.op_types) == (place, ("AsString", "StringLength"))
    assert lines() == [str(cause)]


def test_a_summary_of_images_is_of_the_line_that_writes_it(strategy, lines, tmp_path):
    """Its ops are made by TensorBoard, which is a package of its own."""
    pytest.importorskip("tensorboard.plugins.image.summary_v2")
    writer = tf.summary.create_file_writer(str(tmp_path))

    def fn(x):
        with writer.as_default():
            tf.summary.image("x", tf.fill([1, 2, 2, 1], x), step=0)
        return x

    run(strategy, fn)
    places = {cause.place.rpartition(":")[0] for cause in tpudist.tpu_refusals()}
    assert places == {__file__}


def test_a_program_in_a_folder_named_tensorflow_is_the_users(strategy, lines, tmp_path):
    file, scope = str(tmp_path / "tensorflow" / "steps.py"), {"tf": tf}
    source = "def size(x): return tf.cast(tf.strings.length(tf.strings.as_string(x)), tf.float32)"
    exec(compile(source, file, "exec"), scope)
    run(strategy, scope["size"])
    assert [cause.place for cause in tpudist.tpu_refusals()] == [file + ":1"]


def test_an_error_is_raised_if_it_is_asked_for(strategy, lines, monkeypatch):
    monkeypatch.setenv(machine.TPU_CHECK, "error")
    with pytest.raises(CompileError, match="AsString, StringLength: a TPU has no strings"):
        run(strategy, length)
    assert run(strategy, lambda x: x + 1) == 2.5


def test_nothing_is_told_if_it_is_off(strategy, lines, monkeypatch):
    monkeypatch.setenv(machine.TPU_CHECK, "off")
    assert run(strategy, length) == 8.0
    assert lines() == []


def test_a_check_that_fails_stops_no_program(strategy, lines, monkeypatch):
    from tpudist.virtual.tpu_check import causes

    monkeypatch.setattr(causes, "of", None)
    with pytest.raises(TypeError):
        run(strategy, length)
    monkeypatch.delenv(machine.STRICT_BATCHING)
    assert run(strategy, lambda x: length(x) + 1) == 9.0


def test_another_value_of_the_variable_is_refused(strategy, monkeypatch):
    monkeypatch.setenv(machine.TPU_CHECK, "loud")
    with pytest.raises(ArgumentError, match="TPUDIST_TPU_CHECK=loud"):
        run(strategy, length)


@pytest.mark.parametrize(
    "fn",
    [
        lambda x: tf.function(length)(x),
        lambda x: tf.cond(x > 0, lambda: length(x), lambda: x),
        lambda x: tf.while_loop(lambda i: i < 2, lambda i: i + length(x) / length(x), [x])[0],
    ],
    ids=["function", "branch", "loop"],
)
def test_what_a_replica_function_calls_is_looked_at(fn, strategy, lines):
    run(strategy, fn)
    assert [LINE in line for line in lines()] == [True], lines()


def test_outside_compilation_is_the_hosts(strategy, lines):
    assert run(strategy, lambda x: tf.compat.v1.tpu.outside_compilation(length, x)) == 8.0
    assert (
        run(strategy, lambda x: tf.compat.v1.tpu.outside_compilation(tf.function(length), x)) == 8.0
    )
    assert lines() == []


def test_outside_compilation_gives_no_warning(strategy, caplog):
    def fn(x):
        tf.get_logger().warning("another warning")
        return tf.compat.v1.tpu.outside_compilation(tf.square, x)

    loggers = [logging.getLogger(name) for name in ("absl", "tensorflow")]
    filters = [list(logger.filters) for logger in loggers]
    for logger in loggers:
        logger.addHandler(caplog.handler)
    try:
        assert run(strategy, fn) == 2.25
    finally:
        for logger in loggers:
            logger.removeHandler(caplog.handler)
    said = [record.getMessage() for record in caplog.records]
    assert "another warning" in said and not [each for each in said if "Outside" in each]
    assert [logger.filters for logger in loggers] == filters


@pytest.mark.skipif(
    not versions.AUTOMATIC_OUTSIDE_COMPILATION, reason="since 2.4 the host runs what XLA cannot"
)
def test_soft_placement_has_the_host_do_it(strategy, lines, monkeypatch):
    def printed(x):
        tf.print(x, output_stream="file:///dev/null")
        return length(x)

    monkeypatch.setattr(context.context(), "_soft_device_placement", True)  # undone behind it
    assert run(strategy, printed) == 8.0
    assert lines() == []
    run(strategy, lambda x: tf.zeros([tf.cast(x, tf.int32)]))
    assert "Fill: a shape or an axis depends on a value" in lines()[0]


def test_summaries_are_told_but_in_outside_compilation(strategy, lines, tmp_path):
    writer = tf.summary.create_file_writer(str(tmp_path))

    def summary(x):
        with writer.as_default():
            tf.summary.write("x", x, step=0)
        return x

    run(strategy, lambda x: tf.compat.v1.tpu.outside_compilation(summary, x))
    assert lines() == []
    run(strategy, summary)
    assert any("WriteSummary" in line for line in lines())


def test_the_model_of_keras_is_looked_at(strategy, lines):
    keras = tf.keras
    with strategy.scope():
        model = keras.Sequential([keras.layers.Lambda(length), keras.layers.Dense(1)])
        model.compile("sgd", "mse")
    model.fit(np.ones([8, 1], np.float32), np.ones([8, 1], np.float32), batch_size=8, verbose=0)
    assert [line for line in lines() if LINE in line]


def test_a_bounded_dynamic_batch_is_right(strategy, lines):
    def fn(x):
        rows = tf.shape(x)[0]
        return tf.reshape(tf.concat([x, tf.zeros([rows, 2])], 1), [rows, -1])

    spec = tf.TensorSpec([None, 2])
    tf.function(lambda x: strategy.run(fn, args=(x,)), autograph=False).get_concrete_function(spec)
    assert lines() == []
