"""Batched ops have the same values after every pass of TensorFlow's optimizer.

Batched, a program has an axis more in places, and sizes of 1 where no program has them: the
optimizer may fuse or rewrite what it would not fuse in a program. It is at its default here,
and the oracle is TensorFlow op by op, on each replica's share, where nothing is optimised.
``TF_ENABLE_ONEDNN_OPTS=1`` turns on fusions that depend on the processor.
"""

import numpy as np
import pytest
import tensorflow as tf

from tests.virtual import harness
from tpudist.tfcompat import versions

if not versions.TRACE_ONCE:
    pytest.skip(harness.TRACED_PER_REPLICA, allow_module_level=True)

from tests.virtual.vectorize import fusion_cases


def with_gradient(fn):
    """What `fn` gives, and the gradient of its squares."""

    def both(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            results = fn(x)
            floats = [value for value in results if value.dtype.is_floating]
            loss = tf.add_n([tf.reduce_sum(value * value) for value in floats])
        return results + [tape.gradient(loss, x)]

    return both


@pytest.mark.slow
@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("case", sorted(fusion_cases.CASES))
def test_the_optimizer_changes_no_number(case, rows):
    values = harness.shares(rows, 24)
    fn = with_gradient(fusion_cases.CASES[case])
    outputs = harness.run(harness.make(), fn, values)
    for result, share in zip(outputs, values):
        for i, wanted in enumerate(fn(tf.constant(share))):
            scale = 1 + np.abs(wanted).max()
            np.testing.assert_allclose(
                result[i], wanted, 1e-4, 1e-4 * scale, err_msg="output %d" % i
            )
