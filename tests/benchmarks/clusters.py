"""Workers of a cluster, all on this machine: what their steps cost, and what they send."""

import collections
import contextlib
import statistics

from tests.benchmarks import processes

#: The workers of which the CPU time is measured, and the virtual cores of each.
WORKERS, CORES = (1, 2, 4), 8


def rows(sizes):
    """(what, measured, unit, bound) of the examples' CNN; CPU time is that of all workers."""
    return [*_over_native(sizes), *_in_all(sizes), *_sent(sizes)]


def _over_native(sizes):
    """Two workers over TensorFlow's own strategy on as many; engines take turns."""
    engines = {"workers": 1, "cluster:cpus": 1, "cluster:virtual": sizes.cores // 2}
    firsts, steps = collections.defaultdict(list), collections.defaultdict(list)
    for _ in range(sizes.repeats):
        with contextlib.ExitStack() as stack:
            running = {
                name: stack.enter_context(_cluster(name, 2, cores, sizes.batch))
                for name, cores in engines.items()
            }
            for name, workers in running.items():
                firsts[name].append(workers.ask("first")["cpu"])
            for _ in range(sizes.repeats):
                for name, workers in running.items():
                    steps[name].append(workers.ask("steps %d" % sizes.steps)["cpu"])
    what = "CPU time of %s of the examples' CNN, global batch %d, 2 workers: %s:%d / %s"
    for name, bounds in (("cluster:cpus", (1.02, 1.1)), ("cluster:virtual", (1.1, 1.6))):
        step = statistics.median(map(_divided, steps[name], steps["workers"]))
        first = min(firsts[name]) / min(firsts["workers"])
        for each, ratio, bound in zip(("a step", "the first step"), (step, first), bounds):
            told = (each, sizes.batch, name, engines[name], "MultiWorkerMirroredStrategy")
            yield what % told, ratio, "", bound


def _divided(one, other):
    return one / other


def _in_all(sizes):
    """So many workers of a batch each, over as many times one process without a cluster."""
    what = "CPU time of a step, %d worker(s) x %d virtual cores, batch %d each / of one process"
    with processes.Engine("virtual", cores=CORES, model="cnn", batch=sizes.batch) as one:
        one.first()
        for count in WORKERS:
            ratios = []
            with _cluster("cluster:virtual", count, CORES, count * sizes.batch) as workers:
                workers.ask("first")
                for _ in range(sizes.rounds):
                    alone = one.steps(sizes.steps)["cpu"]
                    ratios.append(workers.ask("steps %d" % sizes.steps)["cpu"] / alone / count)
            yield what % (count, CORES, sizes.batch), statistics.median(ratios), "", None


def _sent(sizes):
    """What a worker hands over to TensorFlow's collectives in a step."""
    with _cluster("cluster:virtual", 2, CORES, 2 * sizes.batch) as workers:
        found = workers.ask("sent")
    sent = [size for _, size in found["sent"]]
    yield "collectives of a step, %d virtual cores a worker" % CORES, len(sent), "", 2
    yield "their bytes / those of the gradients", sum(sent) / found["trained"], "", 1.01


def _cluster(engine, workers, cores, batch):
    return processes.Cluster(engine, workers, cores=cores, model="cnn", batch=batch)
