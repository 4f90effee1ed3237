"""The benchmarks' models train to the same loss on virtual cores and on logical CPUs."""

import pytest

from tests.benchmarks import joined, processes

pytestmark = [pytest.mark.slow, pytest.mark.proof]

STEPS = 20

#: Smaller than in the benchmarks: every core does its own part, of at least two examples.
SMALL = {"bert": dict(batch=16), "unet": dict(batch=16), "resnet": dict(batch=32)}


def loss(engine, options):
    """The loss of the last of `STEPS` steps on eight cores."""
    told = {**options, **SMALL.get(options["model"], {}), "seed": 1}
    with processes.Engine(engine, cores=8, **told) as running:
        return running.steps(STEPS)["loss"]


@pytest.mark.parametrize("name", sorted(joined.MODELS))
def test_logical_cpus_give_the_loss_of_virtual_cores(name, record_property):
    expected, found = (loss(engine, joined.MODELS[name]) for engine in ("virtual", "cpus"))
    record_property("relative difference", abs(found - expected) / abs(expected))
    assert found == pytest.approx(expected, rel=1e-5)
