"""Whether programs compute on clusters of this machine's processes what they do on one.

    python -m compat.make.clusters [--keras installed] [PROGRAM ...]

The programs are those of ``tests/cluster``. Each runs on the TensorFlow of the Python that runs
this, on virtual:8 and on each of CLUSTERS; what it prints on the chief, and the values in the
checkpoints and HDF5 files that it leaves, are compared. What it gave is kept in ``clusters.json``,
beside that of other releases, of which ``compat/CLUSTERS.md`` is written.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from typing import Any, Iterator

from tests.cluster import programs, returned

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
RESULTS, PAGE = ROOT / "compat" / "make" / "clusters.json", ROOT / "compat" / "CLUSTERS.md"

#: {what the page calls it: (workers, their cores)}; the first is what the others are compared with.
CLUSTERS = {
    "virtual:8": (0, "virtual:8"),
    "2 x virtual:4": (2, "virtual:4"),
    "4 x virtual:2": (4, "virtual:2"),
    "cpus:8": (0, "cpus:8"),
    "2 x cpus:4": (2, "cpus:4"),
}

#: {name: (text, what the page says of it)}
PROGRAMS = {
    "STEPS": (programs.STEPS, "2.2: steps of a loop, `ON_READ`, random numbers"),
    "TOGETHER": (programs.TOGETHER, "2.2: batch normalization of all, gathered rows"),
    "RESULTS": (returned.RESULTS, "2.2: Keras' `predict` and `evaluate`, `local_results`"),
    "READS": (returned.READS, "2.2: checkpoints, SavedModels, weights, `cache(file)`, read again"),
    "KERAS": (programs.KERAS, "2.2: Keras' `fit` with metrics"),
    "EMBEDDING": (programs.EMBEDDING, "2.0: `experimental_run_v2`, sparse gradients"),
    "TOWERS": (programs.TOWERS, "1.11: `call_for_each_tower`, eager"),
    "LOOP": (programs.LOOP, "1.11: `run_steps_on_dataset`, eager"),
    "SESSIONS": (programs.SESSIONS, "1.11: both in graphs with Sessions, `Saver`, hooks"),
    "ESTIMATOR": (programs.ESTIMATOR, "1.11: `TPUEstimator`: train, evaluate, predict"),
}

HEAD = """# Clusters

Written by `python -m compat.make.clusters` of the Python of each release: programs of
`tests/cluster` on virtual:8, and on clusters of processes of one machine. A figure is the largest
difference, relative to the number (to %g at least), of a number that the chief prints, or of an
array in the checkpoints and HDF5 files that are left, relative to its largest value. It stands
where it is at most %g, and names, rows and files are the same. What is bold differs, or fails, and
is not mended yet.
"""

#: The largest difference that is the same number, and the least that one is divided by.
SAME, LEAST = 1e-5, 0.01


def run(
    program: str, cluster: str, options: list[str], folder: str
) -> subprocess.CompletedProcess[str]:
    """Runs a program on a cluster in a folder."""
    workers, cores = CLUSTERS[cluster]
    pathlib.Path(folder, "train.py").write_text(PROGRAMS[program][0], "utf-8")
    how = ["run", "--tpu", cores]
    if workers:
        how = ["launch", "--hosts", ",".join(["localhost"] * workers), "--cores", cores, "--"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "3"}
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "tpudist", *how, *options, "train.py"],
        cwd=folder, env=environment, capture_output=True, text=True, timeout=600,
    )  # fmt: skip


def values(said: str, folder: str) -> dict[str, Any]:
    """{what: number, or array} of what the chief printed, and of the files in the folder."""
    found: dict[str, Any] = {}
    lines = [line for line in said.splitlines() if not line.startswith(("[", "saved"))]
    for number, line in enumerate(lines):
        name, _, value = line.rpartition(" ")
        found["%d %s" % (number, name)] = float(value)
    found.update(_of_files(pathlib.Path(folder)))
    return found


def _of_files(folder: pathlib.Path) -> Iterator[tuple[str, Any]]:
    """Yields (file and name, array) of the checkpoints and HDF5 files, and the names of others."""
    import h5py
    import numpy as np
    import tensorflow as tf

    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder)).replace("monitored", "alone")  # as programs name them
        name = re.sub("^model[^/]*/", "model/", name)
        if path.suffix == ".index":
            reader = tf.train.load_checkpoint(str(path)[: -len(".index")])
            for key in reader.get_variable_to_shape_map():
                value = np.asarray(reader.get_tensor(key))
                if value.dtype.kind in "fiu":
                    yield "%s %s" % (name, key), value
        elif path.suffix == ".h5":
            with h5py.File(str(path), "r") as file:
                arrays: dict[str, Any] = {}
                file.visititems(arrays.__setitem__)
                arrays = {k: each[()] for k, each in arrays.items() if hasattr(each, "dtype")}
            yield from (("%s %s" % (name, key), value) for key, value in arrays.items())
        elif path.is_file() and "tfevents" not in name and "cached" not in name:
            yield name, 0.0


def difference(own: dict[str, Any], other: dict[str, Any]) -> tuple[float, str]:
    """The largest relative difference, and of what."""
    import numpy as np

    lacks = sorted(set(own) ^ set(other))
    if lacks:
        return float("inf"), "not on both: %s" % ", ".join(lacks[:3])
    found = [(0.0, "")]
    for name, value in own.items():
        a, b = np.asarray(value, np.float64), np.asarray(other[name], np.float64)
        if a.shape != b.shape:
            return float("inf"), "shapes of " + name
        if a.size and "/k/bias" not in name:  # its gradient is rounding, and nothing else
            found.append((float(abs(a - b).max() / max(abs(b).max(), LEAST)), name))
    return max(found)


def row(program: str, options: list[str]) -> dict[str, Any]:
    """{cluster: its difference, or why there is none} of a program."""
    first: dict[str, Any] = {}
    given: dict[str, Any] = {}
    for cluster in CLUSTERS:
        with tempfile.TemporaryDirectory() as folder:
            done = run(program, cluster, options, folder)
            if done.returncode:
                said = re.compile("Error: |tpudist run: '")
                lines = list(filter(said.search, done.stderr.splitlines()))
                given[cluster] = ((lines or done.stderr.splitlines() or ["?"])[-1])[-300:]
                print(program, cluster, given[cluster], flush=True)
                if cluster == "virtual:8":
                    break
                continue
            found = values(done.stdout, folder)
        first = first or found
        most, of_what = difference(found, first)
        given[cluster] = most if most <= SAME else "%g: %s" % (most, of_what)
        print(program, cluster, given[cluster], flush=True)
    return given


def page(results: dict[str, Any]) -> str:
    """The text of ``compat/CLUSTERS.md``."""
    lines = [HEAD % (LEAST, SAME)]
    refused: dict[str, str] = {}
    for release in sorted(results, key=lambda each: (int(each.split(".")[0]), each[2:].zfill(12))):
        lines += ["## TensorFlow %s\n" % release, "| program | %s |" % " | ".join(CLUSTERS)]
        lines.append("|---" * (len(CLUSTERS) + 1) + "|")
        for name in [each for each in PROGRAMS if each in results[release]]:
            cells = [_cell(results[release][name].get(each), refused) for each in CLUSTERS]
            lines.append("| %s | %s |" % (PROGRAMS[name][1], " | ".join(cells)))
        lines.append("")
    lines += ["## Refused\n", *("- %s: %s." % (mark, why) for why, mark in refused.items()), ""]
    return "\n".join(lines)


def _cell(given: float | str | None, refused: dict[str, str]) -> str:
    if given is None:
        return "not run"
    if isinstance(given, float):
        return "%.0e" % given if given else "0"
    if "Instead:" not in given:
        return "**%s**" % given.replace("|", "/")
    found = re.search(r"(?:tpudist run|Error): .*?\. (.*?)\.? Instead:", given)
    why = found.group(1) if found else given
    return refused.setdefault(why, "refused %d" % (len(refused) + 1))


def main() -> None:
    """Runs the programs, and writes what they gave."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keras", help="as tpudist run takes it")
    parser.add_argument("--page", action="store_true", help="run nothing, and write the page")
    parser.add_argument("programs", nargs="*")
    asked = parser.parse_args()
    for name in [] if asked.page else asked.programs or PROGRAMS:
        import tensorflow as tf

        release = ".".join(tf.__version__.split(".")[:2])
        if tuple(map(int, release.split("."))) >= (2, 16):
            release += ", Keras 3" if asked.keras else ", Keras 2"
        given = row(name, ["--keras", asked.keras] if asked.keras else [])
        results = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {}
        results.setdefault(release, {})[name] = given
        RESULTS.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n", "utf-8")
    PAGE.write_text(page(json.loads(RESULTS.read_text("utf-8"))), "utf-8")


if __name__ == "__main__":
    main()
