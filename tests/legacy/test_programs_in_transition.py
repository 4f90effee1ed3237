"""Programs that name more than one era's members, or none, as they were written."""

import pytest

from tests.legacy.harness import in_a_process
from tpudist import surfaces

pytestmark = pytest.mark.slow

_TF = "import tensorflow as tf\n"
_CLASS = """
tpu = tf.distribute.cluster_resolver.TPUClusterResolver(tpu='my-tpu')
tf.tpu.experimental.initialize_tpu_system(tpu)
strategy = tf.distribute.experimental.TPUStrategy(tpu)
"""
_REPLICA = """
def replica(x=0.0):
    context = tf.distribute.get_replica_context()
    return x + context.all_reduce(tf.distribute.ReduceOp.SUM, tf.constant(1.0))
"""

#: As in TensorFlow 1.15: contrib's class, and the members that 2.0 kept.
_V1_15 = (
    _TF
    + """
tpu = tf.contrib.cluster_resolver.TPUClusterResolver(tpu='')
tf.contrib.distribute.initialize_tpu_system(tpu)
strategy = tf.contrib.distribute.TPUStrategy(tpu)
"""
    + _REPLICA
    + """
with strategy.scope():
    out = strategy.experimental_run_v2(replica)
    results = strategy.experimental_local_results(out)
with tf.Session() as session:
    print([float(value) for value in session.run(list(results))])
"""
)

#: 1.15 through tf.compat.v1: a Session, though the strategy's names are those of 2.0.
_COMPAT = (
    "import tensorflow.compat.v1 as tf\n"
    + _CLASS
    + """
data = tf.data.Dataset.range(8).batch(4, drop_remainder=True)
iterator = strategy.experimental_distribute_dataset(data).make_initializable_iterator()
out = strategy.experimental_run_v2(lambda x: tf.reduce_sum(x), args=(next(iterator),))
results = strategy.experimental_local_results(out)
with tf.Session() as session:
    session.run(iterator.initialize())
    print([int(value) for value in session.run(list(results))])
"""
)

#: A graph's names beside one that only 2.2 has.
_COMPAT_RUN = (
    "import tensorflow.compat.v1 as tf\n"
    + _CLASS
    + _REPLICA
    + """
x = tf.placeholder(tf.float32, [])
results = strategy.experimental_local_results(strategy.run(replica, args=(x,)))
with tf.Session() as session:
    print([float(value) for value in session.run(list(results), {x: 1.0})])
"""
)

_FUNCTION = """
@tf.function
def step():
    return strategy.experimental_local_results(%s)

print([float(value) for value in step()])
"""
_ASKS = """
if hasattr(strategy, 'run'):
    run = strategy.run
else:
    run = strategy.experimental_run_v2
"""
_2_X = _TF + _CLASS + _REPLICA

PROGRAMS = {
    "of 1.15": (_V1_15, "contrib", [4.0] * 4),
    "compat.v1 with a Session": (_COMPAT, "contrib", [0, 1, 2, 3]),
    "compat.v1 with a placeholder and run": (_COMPAT_RUN, "v2_2", [5.0] * 4),
    "the older name of 2.2 and 2.3, in a function": (
        _2_X + _FUNCTION % "strategy.experimental_run_v2(replica, args=(1.0,)) if 0 else "
        "strategy.run(replica, args=(strategy.experimental_run_v2(replica),))",
        "v2_2",
        [8.0] * 4,
    ),
    "hasattr, in a function": (_2_X + _ASKS + _FUNCTION % "run(replica)", "v2_2", [4.0] * 4),
    "getattr, in a function": (
        _2_X
        + "run = getattr(strategy, 'run', None) or strategy.experimental_run_v2\n"
        + _FUNCTION % "run(replica)",
        "v2_2",
        [4.0] * 4,
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_runs_unmodified(script, name):
    text, era, printed = PROGRAMS[name]
    process = in_a_process(script(text), (), None, "virtual:4")
    assert process.returncode == 0, process.stderr
    assert process.stdout == "%s\n" % printed
    assert "era: %s (" % surfaces.spelled(era) in process.stderr


@pytest.mark.parametrize("era", [None, "2.0", "2.2"])
def test_a_program_that_names_no_era_has_the_newest_and_is_told(script, era):
    process = in_a_process(script(_TF + "print(tf.executing_eagerly())"), (), era)
    assert (process.returncode, process.stdout) == (0, "True\n"), process.stderr
    told = "era: 2.2, the newest: no name tells one (--era contrib|2.0|2.2)"
    assert (told in process.stderr) == (era is None)
