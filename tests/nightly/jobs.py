"""What the long proofs are: a command each, on some releases."""

import collections
import sys

from tests.helpers import cores
from tpudist import machine
from tpudist.toolbox import table

#: A command, and the releases of `tpudist matrix` that it runs on ("newest": here).
Job = collections.namedtuple("Job", "part command releases environment")

#: The parts, in the order in which they run.
PARTS = [
    *("releases", "unvectorized", "cores", "rules", "proofs"),
    *("random", "mutation", "migrated", "eras", "benchmarks"),
]

#: Folders whose tests run on every release.
SURFACES = [
    "tests/" + name
    for name in (
        *("cloud", "conformance", "contrib", "estimator", "legacy/contrib_ports"),
        *("native", "programs", "virtual"),
    )
]

#: What a training program meets below ``tpudist run``.
_SHIM = [
    "tpudist/" + name
    for name in (
        *("adapter", "backends", "common", "computations", "contrib", "dropin", "input", "keras"),
        *("strategy", "surfaces", "system", "tfcompat", "v2_0", "v2_2", "virtual"),
    )
]

#: {part: the files and folders that it proves something of}: after a change of one its rows of
#: ``compat/NIGHTLY.md`` do not hold, and ``python -m tests.release`` fails.
COVERS = {
    "releases": [*_SHIM, "tpudist/cloud", "tpudist/estimator", "tpudist/legacy", *SURFACES],
    "unvectorized": [*_SHIM, "tests/conformance", "tests/contrib", "tests/differential"],
    "cores": [*_SHIM, "tpudist/estimator", "tests/conformance", "tests/contrib", "tests/estimator"],
    "rules": [*_SHIM, "tpudist/estimator", "examples/guides", *SURFACES],
    "proofs": ["tpudist", "examples"],
    "random": [*_SHIM, "tests/differential"],
    "mutation": ["tpudist", "tests/mutation", "tests/virtual"],
    "migrated": ["tpudist/surfaces", "tpudist/tools/migrate", "compat/make/programs_migrated.py"],
    "eras": ["tpudist/surfaces", "compat/make/eras.py", "compat/make/eras.txt"],
    "benchmarks": [*_SHIM, "tests/benchmarks"],
}

#: Where slow tests run too: the last TensorFlow 1, the first release with all surfaces, some of
#: those that trace a replica function once (from 2.4 on), and the one with Keras 2 beside 3.
_SLOW_TOO = ["1.15", "2.2", "2.4", "2.8", "2.15", "2.16-tf-keras"]

NEWEST = "newest"


def jobs(parts, seed):
    """The jobs of some parts; `seed` draws what is random."""
    pytest = ["python", "-m", "pytest", "-q", "--disable-warnings", "-n", "auto"]
    pytest += ["--dist", "worksteal", "--hypothesis-seed=%d" % seed]
    layers = ["tests/virtual/vectorize/test_fusions.py", "tests/virtual/vectorize/test_layers.py"]
    guides = "tests/examples/test_guides.py"
    surfaces = pytest + ["-m", "not slow", "tests/conformance", "tests/contrib"]
    unvectorized = surfaces + ["tests/differential"]
    differential = ["python", "-m", "tests.differential", "--seed", str(seed), "--programs"]
    thirds = ["1,3", "2,4,5,8", "6,7,9,10"]  # of the shares: a piece takes less than an hour
    every = [
        Job("releases", pytest + ["-m", "not slow"] + SURFACES, list(table.read()), {}),
        Job("unvectorized", unvectorized, [NEWEST] + list(table.read()), {machine.VECTORIZE: "0"}),
        Job(
            "cores", surfaces + ["tests/estimator"], [NEWEST, *_SLOW_TOO], {cores.VARIABLE: "cpus"}
        ),
        Job("rules", pytest + ["-m", "slow and not proof", *SURFACES, guides], _SLOW_TOO, {}),
        Job("rules", pytest + layers, [NEWEST], {"TF_ENABLE_ONEDNN_OPTS": "1"}),
        Job("proofs", pytest + ["-m", "proof"], [NEWEST], {}),
        *(Job("random", [*differential, "10000", "--shares", of], [NEWEST], {}) for of in thirds),
        Job("random", differential + ["2000"], ["1.15", "2.2"], {}),
        Job("random", differential + ["1000"], ["2.8", "2.15"], {}),
        Job("mutation", ["python", "-m", "tests.mutation"], [NEWEST], {}),
        Job(
            "mutation", ["python", "-m", "tests.mutation.drawn", "--seed", str(seed)], [NEWEST], {}
        ),
        Job("migrated", ["python", "-m", "compat.make.programs_migrated"], [NEWEST], {}),
        Job("eras", ["python", "-m", "compat.make.eras"], [NEWEST], {}),
        Job("benchmarks", ["python", "tests/benchmarks/run.py"], [NEWEST], {}),
    ]
    return [job for job in every if job.part in parts]


def on_release(job, release):
    """The command line that runs a job on a release."""
    if release == NEWEST:
        return [sys.executable] + job.command[1:]
    matrix = [sys.executable, "-m", "tpudist", "matrix", "--releases", release]
    return matrix + ["--project", ".[test,test-cloud]", "--"] + job.command
