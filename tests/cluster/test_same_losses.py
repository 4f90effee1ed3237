"""The benchmarks' models train to the same loss on one device, on logical CPUs, on two hosts."""

import pytest

from tests.benchmarks import joined, processes

pytestmark = [pytest.mark.slow, pytest.mark.proof]

STEPS = 20

#: Steps of a model that makes more of a rounding difference with each: from the fourth step on
#: batch normalization over four examples makes of 1e-7 ten times as much.
OWN_STEPS = {"resnet": 3}

#: Smaller than in the benchmarks: every core does its own part, of at least two examples.
SMALL = {"bert": dict(batch=16), "unet": dict(batch=16), "resnet": dict(batch=32)}


def loss(engine, options):
    """The loss of the last step on eight cores, of a cluster those of two workers."""
    told = {**options, **SMALL.get(options["model"], {}), "seed": 1}
    steps = OWN_STEPS.get(options["model"], STEPS)
    if engine.startswith("cluster:"):
        with processes.Cluster(engine, 2, cores=4, **told) as workers:
            return workers.ask("steps %d" % steps)["loss"]
    with processes.Engine(engine, cores=8, **told) as running:
        return running.steps(steps)["loss"]


@pytest.mark.parametrize("engine", ["cpus", "cluster:virtual"])
@pytest.mark.parametrize("name", sorted(joined.MODELS))
def test_the_loss_is_that_of_virtual_cores(name, engine, record_property):
    expected, found = (loss(each, joined.MODELS[name]) for each in ("virtual", engine))
    record_property("relative difference", abs(found - expected) / abs(expected))
    assert found == pytest.approx(expected, rel=1e-5)
