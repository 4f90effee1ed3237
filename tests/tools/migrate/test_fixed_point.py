"""The least fixed point: what depends on itself is right, and computed a few times only."""

import random

import pytest

from tpudist.tools.migrate.resolution import fixed_point


def solved(equations):
    """({key: values}, how many times a right side was computed) of {key: (values, keys)}."""
    solver, count = fixed_point.FixedPoint(), []

    def ask(key):
        def compute():
            count.append(key)
            found = set(equations[key][0])
            for other in equations[key][1]:
                found |= ask(other)
            return found

        return solver.solve(key, compute)

    with fixed_point.deep_stack():
        return {key: ask(key) for key in equations}, len(count)


def expected(equations):
    """The same by iterating all equations until nothing changes."""
    found = {key: set(values) for key, (values, _) in equations.items()}
    while True:
        new = {
            key: set(values).union(*[found[other] for other in others])
            for key, (values, others) in equations.items()
        }
        if new == found:
            return found
        found = new


def test_random_equations():
    for seed in range(200):
        chosen = random.Random(seed)
        size = chosen.randrange(1, 14)
        equations = {
            key: (
                chosen.sample("abcd", chosen.randrange(0, 2)),
                [chosen.randrange(size) for _ in range(chosen.randrange(0, 4))],
            )
            for key in range(size)
        }
        assert solved(equations)[0] == expected(equations), seed


@pytest.mark.parametrize("size", [100, 400])
def test_time_is_linear_in_the_reassignments_of_a_name(size):
    # One name of `size` definitions, each of which asks for the name again.
    equations = {"name": ("", list(range(size)))}
    equations.update({index: ("ab"[index % 2 :], ["name"]) for index in range(size)})
    found, count = solved(equations)
    assert found["name"] == {"a", "b"} and count <= 4 * size


def test_what_never_settles_is_unknown():
    solver, turns = fixed_point.FixedPoint(), iter(range(1000))
    assert ("unknown",) in solver.solve("a", lambda: (solver.solve("a", None), [(next(turns),)])[1])


@pytest.mark.parametrize(("size", "values"), [(300, {"a"}), (1000, {("unknown",)})])
def test_what_is_nested_too_deeply_is_unknown(size, values):
    equations = {key: ("", [key + 1]) for key in range(size)}
    equations[size] = ("a", [])
    found, count = solved(equations)
    assert found[0] == values and found[size] == {"a"} and count <= 2 * size


@pytest.mark.parametrize("size", [500, 1000, 4000])
def test_what_depends_on_itself_too_deeply_is_computed_a_few_times(size):
    equations = {key: ("a" * (key == 0), [(key + 1) % size, key // 2]) for key in range(size)}
    found, count = solved(equations)
    assert all(values & {"a", ("unknown",)} for values in found.values())
    assert count <= 30 * size
