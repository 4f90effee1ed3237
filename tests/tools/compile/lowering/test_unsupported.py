"""Ops that no TPU runs are refused together, each with the user's line."""

import functools

import numpy as np
import pytest
import tensorflow as tf

from tests.tools.compile import harness
from tpudist.errors import ContextError

pytestmark = harness.lowers_here

SPEC = tf.TensorSpec([16, 4])


@pytest.fixture(scope="module")
def strategy():
    return harness.strategy()


def test_unsupported_ops_are_listed_at_once_with_their_lines(strategy):
    def step(x):
        tf.print("loss", x)  # print
        y = tf.numpy_function(np.sin, [x], tf.float32)  # python
        text = tf.strings.as_string(y)  # text
        return x + tf.reshape(y, [4]), tf.strings.length(text)

    message = str(harness.refusal(strategy, step, tf.ones([4])))
    assert (
        harness.line(__file__, "print") + "StringFormat, PrintV2: a TPU prints nothing" in message
    )
    assert harness.line(__file__, "python") + "PyFunc" in message
    assert harness.line(__file__, "text") + "AsString" in message
    assert "input pipeline" in message and "outside of it" in message


def test_a_shape_of_a_value_is_listed_with_them(strategy):
    def step(x):
        tf.print("loss", x)  # before
        return tf.zeros([tf.cast(x[0], tf.int32)])  # shape

    message = str(harness.refusal(strategy, step, tf.ones([4])))
    assert harness.line(__file__, "before") + "StringFormat, PrintV2" in message
    assert harness.line(__file__, "shape") + "Fill: a shape or an axis depends on" in message


def test_functions_branches_and_loops_are_searched(strategy):
    @tf.function
    def nested(x):
        return tf.py_function(lambda y: y, [x], tf.float32)  # function

    def step(x):
        nested(x)
        if tf.reduce_sum(x) > 1.0:
            tf.print("branch")  # branch
        for _ in tf.range(3):
            tf.print("loop")  # loop
        return x

    message = str(harness.refusal(strategy, step, tf.ones([4])))
    for mark in ("function", "branch", "loop"):
        assert harness.line(__file__, mark) in message


def test_a_dtype_without_a_kernel_is_refused(strategy):
    def step(x):
        return tf.add(tf.constant("a"), "b"), x  # added

    assert harness.line(__file__, "added") + "Add: a TPU has no strings" in str(
        harness.refusal(strategy, step, tf.ones([4]))
    )


def test_one_line_is_listed_once(strategy):
    def step(x):
        for _ in range(5):
            tf.print(x)  # repeated
        return x

    assert (
        str(harness.refusal(strategy, step, tf.ones([4]))).count(harness.line(__file__, "repeated"))
        == 1
    )


def test_an_iterator_is_no_variable(strategy):
    iterator = iter(tf.data.Dataset.range(3))

    def step():
        return next(iterator)  # taken

    message = str(harness.refusal(strategy, step))
    assert harness.line(__file__, "taken") in message and "as an argument" in message


def test_a_dynamic_shape_is_refused(strategy):
    def step(x, size):
        return tf.reshape(x, tf.stack([size, -1]))  # reshaped

    message = str(harness.refusal(strategy, step, tf.ones([4]), tf.constant(2)))
    assert harness.line(__file__, "reshaped") in message
    assert "compile-time constant" in message or "known while tracing" in message


def test_supported_ops_are_accepted(strategy):
    def step(x):
        return tf.nn.top_k(x, 2).values, tf.random.normal([3]), tf.debugging.assert_positive(x)

    assert harness.results(harness.lower(strategy, step, tf.ones([4])))


def test_an_exception_of_the_step_is_explained_with_its_line(strategy):
    """The last line is where it is raised; those before are unsupported ops."""

    def step(x):
        y = tf.py_function(lambda each: each, [x], tf.float32)  # without a shape
        return len(y.shape)  # stopped

    error = harness.refusal(strategy, step, tf.ones([4]))
    lines = error.seen.splitlines()
    assert harness.line(__file__, "without a shape") + "EagerPyFunc" in lines[1]
    assert harness.line(__file__, "stopped") + "ValueError: " in lines[2] and len(lines) == 3
    assert isinstance(error.__cause__, ValueError)


def test_wrong_shapes_are_explained_with_the_line(strategy):
    weight = tf.ones([3, 2])

    def step(images, rate):
        return tf.matmul(images, weight) * rate  # multiplied

    error = harness.refusal(strategy, step, tf.TensorSpec([16, 4]), tf.TensorSpec([]))
    assert harness.line(__file__, "multiplied") in error.seen and "args and kwargs" in error.instead


@pytest.mark.parametrize(
    ("args", "kwargs", "why"),
    [
        ((), {}, "images"),
        ((SPEC, 0.1), {"rates": 0.1}, "rates"),
        ((SPEC, SPEC, SPEC), {}, "positional arguments"),
    ],
)
@pytest.mark.parametrize("wrap", [lambda fn: fn, tf.function])
def test_arguments_that_the_step_does_not_take_are_explained(strategy, wrap, args, kwargs, why):
    @wrap
    def step(images, rate):
        return images * rate

    error = harness.refusal(strategy, step, *args, **kwargs)
    assert "TypeError: " in error.seen and why in error.seen
    assert "outer_factory" not in str(error) and "args and kwargs" in error.instead


def test_a_wrong_value_is_explained_with_the_line(strategy):
    def step(images, count):
        return images[:count]  # counted

    error = harness.refusal(strategy, step, SPEC, count=1.5)
    assert harness.line(__file__, "counted") in error.seen


def test_a_decorator_may_add_arguments(strategy):
    def scaled(fn):
        return functools.wraps(fn)(lambda images: fn(images, 2.0))

    @scaled
    def twice(images, scale):
        return images * scale

    assert harness.results(harness.lower(strategy, twice, SPEC))


def test_a_step_that_autograph_does_not_convert_is_explained(strategy):
    @tf.autograph.experimental.do_not_convert
    def step(x):
        raise KeyError("weights")  # raised

    error = harness.refusal(strategy, step, tf.ones([4]))
    assert harness.line(__file__, "raised") + "KeyError: 'weights'" in error.seen


def test_errors_of_tpudist_are_not_changed(strategy):
    def step(x):
        return strategy.run(lambda: x)

    with pytest.raises(ContextError, match="inside the step that is compiled"):
        harness.lower(strategy, step, tf.ones([4]))
