"""What replica functions assign: every kind of value, method and aggregation, against numpy."""

import numpy as np
import pytest
import tensorflow as tf

from tests.conformance import modes
from tests.conformance.modes import number
from tests.contrib import harness
from tests.helpers import cores
from tpudist.tfcompat import distributed, versions

Aggregation = tf.VariableAggregation
CORES = 2

#: A tensor that is made outside of the replica function.
MADE_OUTSIDE = np.array([3.0, 5.0], np.float32)

#: {kind: (the value in a replica function, what it is in numpy on replica `i`)}
OWN = {
    "tensor": (lambda outside: number() + 1.0, lambda i: i + 1.0),
    "tensor of rank 1": (lambda outside: tf.stack([number(), 2.0]), lambda i: [i, 2.0]),
    "list of tensors": (lambda outside: [number(), number() * 2.0], lambda i: [i, 2.0 * i]),
    "tuple of tensors": (lambda outside: (number(), number() * 2.0), lambda i: [i, 2.0 * i]),
    "nested list of tensors": (
        lambda outside: [[number(), number()], [number() * 2.0, number()]],
        lambda i: [[i, i], [2.0 * i, i]],
    ),
    "constant": (lambda outside: tf.constant([1.0, 2.0]), lambda i: [1.0, 2.0]),
    "variable": (lambda outside: outside["variable"], lambda i: MADE_OUTSIDE),
}
FROM_OUTSIDE = (lambda outside: outside["tensor"], MADE_OUTSIDE)

#: The same of what Python or numpy makes, which is one value for all replicas.
PLAIN = {
    "float": (lambda outside: 0.5, 0.5),
    "int": (lambda outside: 2, 2.0),
    "list": (lambda outside: [0.5, 0.25], [0.5, 0.25]),
    "list of ints": (lambda outside: [1, 2], [1.0, 2.0]),
    "tuple": (lambda outside: (0.5, 0.25), [0.5, 0.25]),
    "nested list": (lambda outside: [[1.0, 2.0], [3.0, 4.0]], [[1.0, 2.0], [3.0, 4.0]]),
    "nested ints": (lambda outside: [[1, 2], [3, 4]], [[1.0, 2.0], [3.0, 4.0]]),
    "numpy scalar": (lambda outside: np.float32(0.5), 0.5),
    "numpy float64": (lambda outside: np.float64(0.5), 0.5),
    "numpy array": (lambda outside: np.array([0.5, 0.25], np.float32), [0.5, 0.25]),
    "numpy ints": (lambda outside: np.array([1, 2]), [1.0, 2.0]),
    "numpy array from outside": (lambda outside: MADE_OUTSIDE, MADE_OUTSIDE),
    "list of numpy scalars": (lambda outside: [np.float32(1), np.float32(2)], [1.0, 2.0]),
}

#: Those that are objects of each replica where each is traced: they are added there.
ARRAYS = ("numpy scalar", "numpy float64", "numpy array", "numpy ints", "list of numpy scalars")

#: Zeros, which are their own sum.
ZEROS = {
    "zero": (lambda outside: 0.0, 0.0),
    "int zero": (lambda outside: 0, 0.0),
    "list of zeros": (lambda outside: [0.0, 0.0], [0.0, 0.0]),
    "numpy zero": (lambda outside: np.float32(0), 0.0),
    "numpy zeros": (lambda outside: np.zeros([2], np.float32), [0.0, 0.0]),
}

METHODS = {
    "assign": lambda old, value: value,
    "assign_add": lambda old, value: old + value,
    "assign_sub": lambda old, value: old - value,
}


def expected(how, values):
    """What each replica assigns, of the values of all."""
    values = [np.asarray(value, np.float32) for value in values]
    one = {
        "SUM": lambda: sum(values),
        "MEAN": lambda: sum(values) / len(values),
        "ONLY_FIRST_REPLICA": lambda: values[0],
    }.get(how)
    return values if one is None else [one()] * len(values)


class Way:
    """A way to run a replica function: in a graph, in a function, eagerly, or op by op."""

    def __init__(self, name):
        self.name = name
        self.mode = name if name in ("graph", "function") else "function"

    @property
    def has_own_arrays(self):
        """Whether Python runs once per replica."""
        return self.name in ("graph", "towers") or not versions.TRACE_ONCE or bool(cores.KIND)

    def strategy(self):
        """The strategy of two replicas."""
        if self.name == "towers":
            return harness.strategy_of(CORES)
        surface = modes.V2_0 if self.name == "eager" else modes.V2_2
        return surface.strategy("virtual:%d" % CORES)

    def run(self, strategy, fn):
        """Runs `fn` once on each replica."""
        if self.name == "towers":
            with strategy.scope():
                return strategy.call_for_each_tower(fn)
        if self.name == "eager":
            return strategy.experimental_run_v2(fn)
        if self.name == "graph":
            return strategy.run(fn)
        return tf.function(lambda: strategy.run(fn))()


@pytest.fixture(params=["graph", "function", "eager", "towers"])
def way(request):
    """Each way in turn."""
    if request.param in ("eager", "towers") and not versions.HAS_FUNCTION:
        pytest.skip("TensorFlow 1.13 has no tf.function, by which these fetch values")
    return Way(request.param)


def assigned(way, updates, starts, aggregation):
    """The values of the replicas' copies, of one variable for each ``update(v, outside)``."""
    with modes.enter(way.mode) as mode:
        strategy = way.strategy()
        with strategy.scope():
            variables = [tf.Variable(start, aggregation=aggregation) for start in starts]
            outside = {"variable": tf.Variable(MADE_OUTSIDE)}
        outside["tensor"] = tf.constant(MADE_OUTSIDE)

        def replica():
            done = [update(v, outside) for update, v in zip(updates, variables)]
            with tf.control_dependencies(done if way.mode == "graph" else []):
                return tf.constant(1.0)

        results = way.run(strategy, replica)
        mode.fetch(strategy.unwrap(results))
        with strategy.scope():
            parts = [list(map(tf.convert_to_tensor, distributed.components(v))) for v in variables]
        return mode.fetch(parts)


def check(way, kinds, how):
    """Compares the copies that each method leaves with those of numpy.

    Args:
      way: the `Way`.
      kinds: {(kind, method): (the value in a replica function, the values of all replicas)}.
      how: the name of the aggregation.
    """
    updates = [
        lambda v, outside, method=method, make=make: getattr(v, method)(make(outside))
        for (_, method), (make, _) in kinds.items()
    ]
    starts = [np.ones(np.shape(values[0]), np.float32) for _, values in kinds.values()]
    found = assigned(way, updates, starts, Aggregation[how])
    for (name, (_, values)), old, copies in zip(kinds.items(), starts, found):
        wanted = [METHODS[name[1]](old, value) for value in expected(how, values)]
        np.testing.assert_allclose(np.array(copies), np.array(wanted), err_msg=str(name))


def of_each_method(kinds, names=None):
    """The first two arguments of :func:`check` for some `kinds`."""
    return {
        (kind, method): (make, [value(i) if callable(value) else value for i in range(CORES)])
        for kind, (make, value) in kinds.items()
        for method in METHODS
        if names is None or kind in names
    }


def aggregations(*left_out):
    names = ["NONE", "SUM", "MEAN", "ONLY_FIRST_REPLICA"]
    return pytest.mark.parametrize("how", [name for name in names if name not in left_out])


@aggregations()
def test_tensors_of_the_replicas(way, how):
    kinds = of_each_method(OWN)
    if how == "NONE" and not versions.ASSIGN_WITHOUT_AGGREGATION:
        with pytest.raises(ValueError, match="aggregation"):
            check(way, kinds, how)
    else:
        check(way, kinds, how)


@aggregations("NONE", "SUM")
def test_values_of_python_and_numpy(way, how):
    check(way, of_each_method(PLAIN), how)


@pytest.mark.parametrize("kind", sorted(PLAIN))
def test_a_sum_of_one_value_of_python_is_refused(way, kind):
    kinds = of_each_method(PLAIN, [kind])
    if way.has_own_arrays and kind in ARRAYS:
        check(way, kinds, "SUM")
    else:
        with pytest.raises(ValueError, match="SUM"):
            check(way, kinds, "SUM")


@aggregations()
def test_a_tensor_from_outside_is_a_value_of_each_replica(way, how):
    if how == "SUM" and (cores.KIND or way.name == "towers"):
        pytest.skip("refused, as on MirroredStrategy")
    if how == "NONE" and not versions.ASSIGN_WITHOUT_AGGREGATION:
        pytest.skip("refused, as above")
    check(way, of_each_method({"from outside": FROM_OUTSIDE}), how)


@aggregations("NONE")
def test_zeros(way, how):
    check(way, of_each_method(ZEROS), how)


#: {method: (what numpy does at the indices, where all aggregations are allowed)}
SCATTERS = {
    "scatter_add": np.add,
    "scatter_sub": np.subtract,
    "scatter_mul": np.multiply,
    "scatter_div": np.divide,
    "scatter_min": np.minimum,
    "scatter_max": np.maximum,
    "scatter_update": lambda old, value: value,
}
#: Those that TensorFlow refuses to aggregate.
ALONE = ("scatter_min", "scatter_max", "scatter_update")


#: {kind: (values and indices on a replica)}
SLICES = {
    "own tensors": lambda: (tf.stack([number() + 1.0, 4.0]), tf.constant([0, 2])),
    "constants": lambda: (tf.constant([2.0, 4.0]), tf.constant([0, 2])),
    "lists": lambda: ([2.0, 4.0], [0, 2]),
    "arrays": lambda: (np.array([2.0, 4.0]), np.array([0, 2])),
}


def scattered(combine, how, slices):
    """What each copy of ``[2, 4, 8]`` becomes, of [(values, indices)] of all replicas."""
    if how == "ONLY_FIRST_REPLICA":
        slices = slices[:1]
    each = [[one] for one in slices] if how == "NONE" else [slices] * CORES
    scale = 1 / CORES if how == "MEAN" else 1.0
    found = []
    for own in each:
        copy = np.array([2.0, 4.0, 8.0], np.float32)
        for values, indices in own:
            for value, index in zip(values, indices):
                copy[index] = combine(copy[index], np.float32(value * scale))
        found.append(copy)
    return found


@pytest.mark.skipif(versions.BY_DEVICE, reason="until 2.1 these variables have no such methods")
@pytest.mark.parametrize("kind", sorted(SLICES))
@aggregations()
def test_slices_are_scattered(way, kind, how):
    if cores.KIND and kind in ("lists", "arrays"):
        pytest.skip("TensorFlow's mirrored variables take slices of tensors")

    def slices(outside):
        return tf.IndexedSlices(*SLICES[kind]())

    first = [[i + 1.0 if kind == "own tensors" else 2.0, 4.0] for i in range(CORES)]
    is_alone = how in ("NONE", "ONLY_FIRST_REPLICA")
    methods = [name for name in SCATTERS if is_alone or name not in ALONE]
    updates = [lambda v, outside, m=method: getattr(v, m)(slices(outside)) for method in methods]
    starts = [[2.0, 4.0, 8.0]] * len(methods)
    if how == "NONE" and not versions.ASSIGN_WITHOUT_AGGREGATION:
        with pytest.raises(ValueError, match="aggregation"):
            assigned(way, updates, starts, Aggregation[how])
        return
    found = assigned(way, updates, starts, Aggregation[how])
    for method, copies in zip(methods, found):
        wanted = scattered(SCATTERS[method], how, [(values, [0, 2]) for values in first])
        np.testing.assert_allclose(np.array(copies), np.array(wanted), err_msg=method)
