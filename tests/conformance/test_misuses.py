"""What no program can mean: each wrong use ends in an error of three parts."""

import re

import numpy as np
import pytest
import tensorflow as tf

from tests.conformance.modes import MEAN, SUM, number
from tpudist import errors
from tpudist.system import cluster, placement

Resolver = cluster.TPUClusterResolver


class Use:
    """What a wrong use is given: a strategy of four replicas, and how its surface runs them."""

    def __init__(self, surface, mode):
        self.surface, self.mode = surface, mode
        self.strategy = surface.strategy("virtual:4")

    def run(self, fn, *given, **named):
        """Calls the surface's ``run`` with these very arguments."""
        method = "run" if self.surface.era == "v2_2" else "experimental_run_v2"
        return self.mode.evaluate(lambda: getattr(self.strategy, method)(fn, *given, **named))

    def reduce(self, *arguments, **named):
        """Reduces what each replica returns: its number."""

        def build():
            return self.strategy.reduce(
                arguments[0], self.surface.run(self.strategy, number), *arguments[1:], **named
            )

        return self.mode.evaluate(build)

    def assigned(self, **shape):
        """A device assignment of the virtual TPU."""
        topology = placement.topology(self.strategy.extended.system)
        return placement.DeviceAssignment.build(topology, **shape)


def all_reduce(x):
    return tf.distribute.get_replica_context().all_reduce(SUM, x)


#: {label: (the misuse, what the error names)}
MISUSES = {
    "a number of cores for a name": (lambda use: Resolver(8), "tpu=8.*tpu='virtual:8'"),
    "a number that is none": (lambda use: Resolver(-1), "tpu=-1.*Instead: tpu='my-tpu'"),
    "two TPUs": (lambda use: Resolver(["a", "b"]), r"tpu=\['a', 'b'\].*these are 2"),
    "two virtual TPUs": (
        lambda use: Resolver(["virtual:2", "virtual:2"]),
        "one TPU.*Instead: tpu='virtual:2'",
    ),
    "too many replicas": (
        lambda use: use.assigned(num_replicas=9),
        r"the mesh \[2, 1, (1, )?2\] has room for 1 to 4",
    ),
    "a shape that does not divide the mesh": (
        lambda use: use.assigned(computation_shape=[1, 1, 3], num_replicas=1),
        r"must divide the mesh.*a shape such as \[1, 1, (1, )?2\]",
    ),
    "a number to call": (lambda use: use.run(3), r"run\(3\)"),
    "the result of a call": (lambda use: use.run(number, (1.0,), {}), "run with 1 argument"),
    "args without its comma": (
        lambda use: use.run(lambda x: x, args=tf.constant(1.0)),
        r"args=.*Instead: args=\(x,\): without the comma, \(x\) is x",
    ),
    "one number for args": (lambda use: use.run(lambda x: x, args=1.0), r"args=1.0"),
    "too many arguments": (
        lambda use: use.run(lambda x: x, args=(1.0, 2.0)),
        r"run with 2 argument\(s\) for <lambda>\(x\)",
    ),
    "an unknown keyword": (
        lambda use: use.run(lambda x: x, args=(1.0,), kwargs={"y": 1.0}),
        r"run with 1 argument\(s\), y for",
    ),
    "an unknown reduction": (lambda use: use.reduce("MAX", axis=None), r"reduce\('MAX'"),
    "an axis of no component": (lambda use: use.reduce(MEAN, axis=5), "axis=5 .*shape ()"),
    "an axis of scalars": (lambda use: use.reduce(MEAN, axis=0), "axis=0 .*shape ()"),
    "the value first": (
        lambda use: use.mode.evaluate(
            lambda: use.strategy.reduce(tf.constant(1.0), SUM, axis=None)
        ),
        "the reduction comes first",
    ),
    "run in a replica": (lambda use: use.run(lambda: use.run(number)), "inside a replica"),
    "the scope in a replica": (
        lambda use: use.run(lambda: use.strategy.scope().__enter__()),
        "strategy.scope.. was entered in a replica",
    ),
    "a list for a dataset": (
        lambda use: use.strategy.experimental_distribute_dataset([1, 2, 3]),
        r"experimental_distribute_dataset\(\[1, 2, 3\]\)",
    ),
    "a dataset for dataset_fn": (
        lambda use: use.strategy.experimental_distribute_datasets_from_function(
            tf.data.Dataset.range(8).batch(4)
        ),
        r"from_function\(lambda \*context: dataset\)",
    ),
    "scalars for batches": (
        lambda use: use.strategy.experimental_distribute_dataset(tf.data.Dataset.range(3)),
        "Instead: dataset.batch",
    ),
    "a merge in a condition": (
        lambda use: use.run(
            lambda x: tf.while_loop(lambda x: all_reduce(x) < 9.0, lambda x: [x + 1.0], [x]),
            args=(tf.constant(1.0),),
        ),
        "cannot meet in a loop's condition",
    ),
}

#: Those of logical devices, which the surface of 2.2 has.
OF_2_2 = {
    "more parts than devices": (
        lambda use: use.run(
            lambda: use.strategy.experimental_split_to_logical_devices(tf.ones([4, 4]), [1, 2])
        ),
        r"partition_dimensions=\[1, 2\]",
    ),
    "no such device": (
        lambda use: use.run(
            lambda: use.strategy.experimental_assign_to_logical_device(tf.ones([4]), 7)
        ),
        "logical_device_id=7",
    ),
}


def refused(misuse, use, named):
    with pytest.raises(errors.TpudistError) as caught:
        misuse(use)
    # AutoGraph of some releases makes an error anew from its text, which has the parts.
    message = " ".join(str(caught.value).split())
    assert "Instead: " in message and "np." not in message
    assert len(caught.value.args) == 1 or all(caught.value.args)
    assert re.search(named, message), message


@pytest.mark.parametrize("label", sorted(MISUSES))
def test_a_misuse_has_an_error_of_three_parts(surface, mode, label, monkeypatch):
    monkeypatch.delenv("TPUDIST_TPU", raising=False)
    misuse, named = MISUSES[label]
    refused(misuse, Use(surface, mode), named)


@pytest.mark.parametrize("label", sorted(OF_2_2))
def test_a_misuse_of_logical_devices(v2_2, mode, label):
    misuse, named = OF_2_2[label]
    refused(misuse, Use(v2_2, mode), named)


@pytest.mark.parametrize("kind", [ValueError, TypeError])
def test_what_a_function_raises_itself_stays(surface, mode, kind):
    def replica(x):
        raise kind("of the function")

    with pytest.raises(kind, match="of the function") as caught:
        Use(surface, mode).run(replica, args=(1.0,))
    assert not isinstance(caught.value, errors.TpudistError)


def test_two_tpus_are_refused_where_the_environment_names_one(monkeypatch):
    monkeypatch.setenv("TPUDIST_TPU", "virtual:4")
    with pytest.raises(errors.TPUNameError, match="these are 2"):
        Resolver(tpu=["a", "b"])
    assert Resolver(tpu=["a"]).system.cores == 4


@pytest.mark.parametrize(
    ("value", "text"),
    [(np.int32(2), "2"), (np.float32(1.5), "1.5"), ([np.int64(1), np.str_("a")], "[1, 'a']")],
)
def test_numbers_of_numpy_are_written_as_numbers(value, text):
    error = errors.ArgumentError("x=%r" % (value,), "y %r" % (value,), "z=%r" % (value,))
    assert str(error) == "x=%s. y %s. Instead: z=%s" % (text, text, text)
    assert (error.seen, error.instead) == ("x=" + text, "z=" + text)
