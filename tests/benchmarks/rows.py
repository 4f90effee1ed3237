"""The figures: what each is, how it is measured, and what it may be at most.

A measurement is a function of a `Sizes` that returns a list of `Figure`. All are ratios of things
measured in turn in one run, but times of start-up and of the TPU compiler. No TensorFlow here.
"""

import collections
import contextlib
import statistics
import subprocess
import sys
import time

from tests.benchmarks import (
    clusters,
    compiling_rows,
    contrib_graphs,
    joined,
    migration,
    pods,
    processes,
    releases,
)
from tests.benchmarks.sizes import FULL, QUICK, Figure

__all__ = ["FULL", "QUICK", "ROWS", "Figure"]


def _steps_in_turn(sizes, engines, device=None):
    """{engine: [seconds per step of the examples' net, ...]}, each in turn."""
    times = collections.defaultdict(list)
    with contextlib.ExitStack() as stack:
        running = {
            name: stack.enter_context(
                processes.Engine(
                    name, device=device, cores=sizes.cores, model="cnn", batch=sizes.batch
                )
            )
            for name in engines
        }
        for engine in running.values():
            engine.first()
            engine.steps(sizes.warmup)
        for _ in range(sizes.rounds):
            for name, engine in running.items():
                times[name].append(engine.steps(sizes.steps)["seconds"])
    return times


def step_time(sizes):
    """Steps of the examples' net, each engine in turn."""
    times = _steps_in_turn(sizes, ("plain", "virtual", "mirrored", "mirrored_one"))
    what = "step time of the examples' CNN, global batch %d: " % sizes.batch
    mirrored = "MirroredStrategy on %d logical CPUs" % sizes.cores
    return [
        Figure(
            "%s%d virtual cores / one plain device" % (what, sizes.cores),
            _ratio(times["virtual"], times["plain"]),
            "",
            1.10,
        ),
        Figure(
            "%s%d virtual cores / %s" % (what, sizes.cores, mirrored),
            _ratio(times["virtual"], times["mirrored"]),
            "",
            0.75,
        ),
        Figure(
            "%s%d virtual cores / %s, ReductionToOneDevice" % (what, sizes.cores, mirrored),
            _ratio(times["virtual"], times["mirrored_one"]),
            "",
            None,
        ),
        Figure(
            "%s%s / one plain device" % (what, mirrored),
            _ratio(times["mirrored"], times["plain"]),
            "",
            None,
        ),
        Figure(
            "%s%s, ReductionToOneDevice / one plain device" % (what, mirrored),
            _ratio(times["mirrored_one"], times["plain"]),
            "",
            None,
        ),
    ]


def step_time_on_a_gpu(sizes):
    """The same steps with TPUDIST_DEVICE=GPU:0, against the plain GPU; none without a GPU."""
    if not processes.has_a_gpu():
        return []
    times = _steps_in_turn(sizes, ("plain", "virtual"), "GPU:0")
    what = "step time of the examples' CNN, global batch %d: %d virtual cores on GPU:0 / GPU:0"
    measured = _ratio(times["virtual"], times["plain"])
    return [Figure(what % (sizes.batch, sizes.cores), measured, "", None)]


def cpus_as_cores(sizes):
    """The same net with logical CPUs as cores, over TensorFlow's own strategy on the same CPUs."""
    firsts, steps = collections.defaultdict(list), collections.defaultdict(list)
    options = dict(cores=sizes.cores, model="cnn", batch=sizes.batch)
    for _ in range(sizes.repeats):
        with contextlib.ExitStack() as stack:
            running = {
                name: stack.enter_context(processes.Engine(name, **options))
                for name in ("cpus", "mirrored_one")
            }
            for name, engine in running.items():
                firsts[name].append(engine.first()["cpu"])
            for _ in range(sizes.repeats):
                for name, engine in running.items():
                    steps[name].append(engine.steps(sizes.steps)["cpu"])
    what = "CPU time of %%s of the examples' CNN: cpus:%d / MirroredStrategy, ReductionToOneDevice"
    what %= sizes.cores
    first = min(firsts["cpus"]) / min(firsts["mirrored_one"])
    return [
        Figure(what % "a step", _ratio(steps["cpus"], steps["mirrored_one"]), "", 1.02),
        Figure(what % "the first step", first, "", 1.1),
    ]


def _ratio(numerators, denominators):
    return statistics.median(top / bottom for top, bottom in zip(numerators, denominators))


def memory(sizes):
    """Resident memory that building and training an MLP with Adam adds."""
    engines = ("plain", "virtual", "mirrored", "mirrored_one")
    peaks = collections.defaultdict(list)
    for _ in range(sizes.repeats):
        for name in engines:
            with processes.Engine(
                name,
                cores=sizes.cores,
                model="mlp",
                batch=sizes.mlp_batch,
                width=sizes.width,
                layers=sizes.layers,
            ) as engine:
                engine.first()
                peaks[name].append(engine.steps(sizes.warmup)["peak"])
    medians = {name: statistics.median(values) for name, values in peaks.items()}
    what = "resident memory of an MLP %d x %d x %d with Adam: %%s / one plain device" % (
        sizes.layers,
        sizes.width,
        sizes.width,
    )
    plain = max(medians["plain"], 1)
    shown = {
        "virtual": "%d virtual cores" % sizes.cores,
        "mirrored": "MirroredStrategy",
        "mirrored_one": "MirroredStrategy, ReductionToOneDevice",
    }
    return [
        Figure(what % shown[name], medians[name] / plain, "", 1.5 if name == "virtual" else None)
        for name in engines[1:]
    ]


def first_step(sizes):
    """Trace, optimise and run the first step of a Keras residual net."""
    runs = [("plain", 1), ("virtual", 1), ("virtual", sizes.cores), ("virtual", sizes.many)]
    seconds = collections.defaultdict(list)
    for _ in range(sizes.repeats):
        for name, cores in runs:
            with processes.Engine(
                name, cores=cores, model="resnet", batch=2 * sizes.many, blocks=sizes.blocks
            ) as engine:
                seconds[name, cores].append(engine.first()["seconds"])
    medians = {run: statistics.median(values) for run, values in seconds.items()}
    what = "first step (trace, optimise) of a ResNet-like Keras model: %s / %s"
    return [
        Figure(
            what % ("%d virtual cores" % cores, "one " + one),
            medians["virtual", cores] / medians[name, 1],
            "",
            bound,
        )
        for cores, name, one, bound in (
            (sizes.cores, "virtual", "virtual core", 6),
            (sizes.many, "virtual", "virtual core", None),
            (sizes.cores, "plain", "plain device", None),
            (sizes.many, "plain", "plain device", None),
        )
    ]


def of_pods(sizes):
    """An MLP and input pipelines on as many cores as a pod has; quick, one way to train it."""
    kinds = ["by_hand"] if sizes is QUICK else pods.KINDS
    return pods.figures(Figure, 64 * sizes.many, sizes.repeats, sizes.steps, kinds)


def loop_of_steps(sizes):
    """One device loop against as many calls of one step."""
    steps = sizes.loop_steps
    return [
        Figure(
            "run_steps_on_dataset of %d small steps / %d %s" % (steps, steps, calls),
            processes.answer("loops", mode, steps, sizes.loop_rounds)["ratio"],
            "",
            0.8,
        )
        for mode, calls in (
            ("session", "Session.run calls of one"),
            ("function", "tf.function calls of one"),
        )
    ]


def contrib_in_graphs(sizes):
    """Steps of contrib's run_steps_on_dataset in a graph against a plain device."""
    what = {"first": "the first step, with the graph's building", "step": "a step"}
    return [
        Figure(
            "contrib graph: CPU time of %s, %d virtual cores / one plain device"
            % (what[each], cores),
            ratio,
            "",
            contrib_graphs.BOUNDS[each],
        )
        for cores in (sizes.cores, sizes.many)
        for each, ratio in contrib_graphs.ratios(cores, sizes.repeats, sizes.steps).items()
    ]


def estimators(sizes):
    """A TPUEstimator on 8 virtual cores against one without; processor time."""
    found = processes.answer("estimators", sizes.repeats)
    what = "TPUEstimator on 8 virtual cores / use_tpu=False: "
    return [
        Figure(what + "CPU time of a step of a CNN, batch 128", found["step_cpu"], "", 1.1),
        Figure(
            what + "CPU time of train() of 1,000 small steps in loops of 100",
            found["train_cpu"],
            "",
            0.67,
        ),
        Figure(
            "TPUEstimator: resident memory after 10,000 steps / after 1,000",
            found["memory"],
            "",
            1.05,
        ),
    ]


def graph_ops(sizes):
    """Graph ops that `run` adds in a tf.function, on a described TPU."""
    del sizes
    found = processes.answer("graph_ops")
    return [
        Figure(
            "graph ops of a step: the %s facade / the native TPUStrategy"
            % era.replace("v", "").replace("_", "."),
            found[era] / found["native"],
            "",
            1.0,
        )
        for era in ("v2_0", "v2_2")
    ]


def matrix(sizes):
    """`tpudist matrix` over cached releases against pytest run in each.

    Nothing in a quick run: environments of other releases are hundreds of
    megabytes from the network.
    """
    if not sizes.releases:
        return []
    what = "tpudist matrix over cached TensorFlow %s / the bare pytest runs"
    return [
        Figure(
            what % ", ".join(sizes.releases),
            releases.ratio(sizes.releases, sizes.matrix_rounds),
            "",
            1.1,
        )
    ]


def start_up(sizes):
    """Seconds of whole processes that must not import TensorFlow."""
    commands = collections.OrderedDict(
        [
            ("python -c 'import tpudist'", ["-c", "import tpudist"]),
            ("tpudist --help", ["-m", "tpudist", "--help"]),
            ("python -c pass, for comparison", ["-c", "pass"]),
        ]
    )
    times = collections.defaultdict(list)
    for _ in range(sizes.starts):
        for name, arguments in commands.items():
            times[name].append(_seconds(arguments))
    _seconds(["-c", "import sys, tpudist; sys.exit('tensorflow' in sys.modules)"])
    return [
        Figure(
            "whole process: " + name,
            statistics.median(times[name]),
            " s",
            None if "pass" in name else 0.15,
        )
        for name in commands
    ]


def migrate(sizes):
    """``tpudist migrate`` and ``tf_upgrade_v2`` on the same tree, in turn."""
    found = migration.measure(sizes.files)
    heavy = migration.measure(-(-sizes.files // 10), legacy_share=1.0)
    what = "tpudist migrate, %d files of %d lines, 5 %% legacy" % (sizes.files, migration.LINES)
    return [
        Figure(what, found["migrate"], " s", 20.0),
        Figure("tpudist migrate, start-up on an empty folder", found["start"], " s", 0.5),
        Figure(
            "the same tree: tpudist migrate / tf_upgrade_v2",
            found["migrate"] / found["upgrade"],
            "",
            0.25,
        ),
        Figure(
            "a tenth as many files, all legacy: tpudist migrate / tf_upgrade_v2",
            heavy["migrate"] / heavy["upgrade"],
            "",
            0.15,
        ),
    ]


def _seconds(arguments):
    start = time.perf_counter()
    subprocess.run(
        [sys.executable] + arguments,
        check=True,
        cwd=processes.ROOT,
        env=processes.environment(),
        stdout=subprocess.DEVNULL,
    )
    return time.perf_counter() - start


def compiling(sizes):
    """Compiling for a TPU with libtpu; named and left out where there is none."""
    found = compiling_rows.one_net(sizes.repeats, sizes is QUICK)
    return [Figure(*row) for row in found]


def compiling_models(sizes):
    """The same of real models, all optimized: minutes each."""
    return (Figure(*row) for row in compiling_rows.models(sizes is QUICK))


ROWS = collections.OrderedDict(
    [
        ("step_time", step_time),
        ("step_time_on_a_gpu", step_time_on_a_gpu),
        ("cpus_as_cores", cpus_as_cores),
        ("clusters", lambda sizes: (Figure(*row) for row in clusters.rows(sizes))),
        ("memory", memory),
        ("first_step", first_step),
        ("pods", of_pods),
        ("joined", lambda sizes: [Figure(*row) for row in joined.rows(sizes, sizes is QUICK)]),
        ("loop_of_steps", loop_of_steps),
        ("contrib_graphs", contrib_in_graphs),
        ("estimators", estimators),
        ("graph_ops", graph_ops),
        ("compiling", compiling),
        ("compiling_models", compiling_models),
        ("start_up", start_up),
        ("matrix", matrix),
        ("migrate", migrate),
    ]
)
