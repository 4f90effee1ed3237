"""The numbers that a replica draws depend on the seed, the op and the replica.

On nothing else: not on the size of the program, on the number of replicas, or
on whether replicas are batched. They are those that MirroredStrategy draws,
which tests/differential compares.
"""

import pytest
import tensorflow as tf

from tpudist import machine
from tpudist.system import cluster
from tpudist.tfcompat import versions
from tpudist.v2_2.strategy import TPUStrategy
from tpudist.virtual import device_loop
from tpudist.virtual.trace import segments

if not versions.TF2:
    pytest.skip("TensorFlow 1 numbers random ops by all ops of the graph", allow_module_level=True)

counted = pytest.mark.skipif(
    not versions.COUNTS_RANDOM_OPS,
    reason="until 2.1 what is drawn in a graph depends on all ops before it",
)

DRAWS = {
    "uniform": lambda seed: tf.random.uniform([8], seed=seed),
    "integers": lambda seed: tf.random.uniform([8], maxval=1000, dtype=tf.int32, seed=seed),
    "normal": lambda seed: tf.random.normal([8], seed=seed),
    "truncated": lambda seed: tf.random.truncated_normal([8], seed=seed),
    "shuffle": lambda seed: tf.random.shuffle(tf.range(20), seed=seed),
    "dropout": lambda seed: tf.nn.dropout(tf.ones([40]), 0.5, seed=seed),
    "categorical": lambda seed: tf.random.categorical(tf.zeros([1, 50]), 8, seed=seed),
    "gamma": lambda seed: tf.random.gamma([8], 2.0, seed=seed),
    "poisson": lambda seed: tf.random.poisson([8], 30.0, seed=seed),
    "sampler": lambda seed: (
        tf.random.uniform_candidate_sampler(
            tf.constant([[1]], tf.int64), 1, 20, True, 1000, seed=seed
        ).sampled_candidates
    ),
}


def uniform():
    return tf.random.uniform([8])


def in_a_loop():
    return tf.while_loop(
        lambda i, _: i < 2, lambda i, total: (i + 1, total + uniform()), (0, tf.zeros([8]))
    )[1]


#: Where a replica function may draw.
PLACES = {
    "top": uniform,
    "function": tf.function(uniform),
    "function in function": tf.function(lambda: tf.function(uniform)() + 1.0),
    "branch": lambda: tf.cond(
        tf.convert_to_tensor(tf.distribute.get_replica_context().replica_id_in_sync_group) >= 0,
        uniform,
        lambda: tf.zeros([8]),
    ),
    "loop": in_a_loop,
    "map": lambda: tf.map_fn(lambda x: x * tf.random.uniform([4]), tf.ones([2])),
}

#: Those where TensorFlow draws in an order that is always the same.
ORDERED = sorted(set(PLACES) - {"map"})


def strategy(cores=4):
    return TPUStrategy(cluster.TPUClusterResolver("virtual:%d" % cores))


def draw(fn, cores=4, calls=1):
    """What each replica draws, as lists, one row for each call of the step."""
    tpu = strategy(cores)
    step = tf.function(lambda: tpu.run(fn))
    found = [[part.numpy().tolist() for part in step_parts(tpu, step)] for _ in range(calls)]
    return found[0] if calls == 1 else found


def step_parts(tpu, step):
    return tpu.experimental_local_results(step())


def distinct(rows):
    return len({str(row) for row in rows})


@pytest.fixture(autouse=True)
def seed():
    """A global seed for the test; none after it."""
    tf.random.set_seed(7)
    yield
    tf.random.set_seed(None)


@pytest.mark.parametrize("name", sorted(DRAWS))
def test_replicas_draw_different_numbers_under_a_global_seed(name):
    assert distinct(draw(lambda: DRAWS[name](None))) == 4


traced_once = pytest.mark.skipif(
    not versions.TRACE_ONCE, reason="before 2.4 TensorFlow numbers the ops of each function anew"
)


@traced_once
@pytest.mark.parametrize("place", sorted(PLACES))
def test_replicas_draw_different_numbers_wherever_they_draw(place):
    assert distinct(draw(PLACES[place])) == 4


@counted
@pytest.mark.parametrize("place", ORDERED)
def test_the_first_replica_draws_what_tensorflow_draws(place):
    expected = tf.function(lambda: PLACES[place]())().numpy()
    assert draw(PLACES[place])[0] == expected.tolist()


@pytest.mark.parametrize("name", sorted(DRAWS))
def test_an_op_with_a_seed_draws_what_tensorflow_draws_on_every_replica(name):
    expected = tf.function(lambda: DRAWS[name](3))().numpy()
    assert draw(lambda: DRAWS[name](3)) == [expected.tolist()] * 4


@traced_once
@pytest.mark.parametrize("place", ORDERED + ["op with a seed"])
def test_numbers_do_not_depend_on_the_size_of_the_program(monkeypatch, place):
    fn = PLACES.get(place) or (lambda: tf.random.uniform([8], seed=3))
    small = draw(fn, calls=2)
    monkeypatch.setattr(segments, "INLINED_OPS", 0)
    monkeypatch.setenv(machine.VECTORIZE, "0")
    assert draw(fn, calls=2) == small


@counted
def test_a_program_of_thousands_of_ops_draws_what_a_small_one_draws():
    def large():
        found = uniform()
        tf.py_function(lambda: None, [], [])  # keeps the replicas apart
        for _ in range(130):
            found = tf.square(tf.sqrt(found)) * 0.0 + found
        return found

    assert draw(large, cores=8, calls=2) == draw(uniform, cores=8, calls=2)


@counted
def test_numbers_do_not_depend_on_whether_replicas_are_batched():
    def apart():
        tf.print("", end="")
        return uniform()

    assert draw(apart, calls=2) == draw(uniform, calls=2)


def test_numbers_do_not_depend_on_the_number_of_replicas():
    assert draw(uniform, cores=8)[:2] == draw(uniform, cores=2)


def test_two_runs_in_one_function_draw_different_numbers():
    tpu = strategy()
    found = tf.function(lambda: (tpu.run(uniform), tpu.run(uniform)))()
    parts = [part for each in found for part in tpu.experimental_local_results(each)]
    assert distinct(part.numpy() for part in parts) == 8


def test_numbers_drawn_before_and_after_a_merge_and_in_it_differ():
    def merge(tpu, number):
        return tpu.experimental_local_results(number)[0] * 0.0 + uniform()

    def fn():
        before = uniform()
        met = tf.distribute.get_replica_context().merge_call(merge, args=(before,))
        return tf.stack([before, met, uniform()])

    rows = draw(fn)
    assert distinct([row[i] for row in rows for i in (0, 2)] + [rows[0][1]]) == 9


def test_stateless_numbers_are_those_of_tensorflow():
    expected = tf.random.stateless_normal([8], [1, 2]).numpy().tolist()
    assert draw(lambda: tf.random.stateless_normal([8], [1, 2])) == [expected] * 4


def test_without_a_seed_every_replica_and_every_program_draws_others():
    tf.random.set_seed(None)
    assert distinct(draw(uniform) + draw(uniform)) == 8


def test_a_loop_of_steps_draws_by_the_global_seed():
    def drawn():
        tf.random.set_seed(7)
        results, _ = device_loop.run(lambda: {"drawn": uniform()}, 3)
        return results["drawn"].numpy().tolist()

    assert drawn() == drawn()
