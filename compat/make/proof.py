"""Whether programs print the same numbers on plain TensorFlow after ``tpudist migrate``.

    python -m compat.make.proof PYTHON_OF_1_15 PYTHON_OF_2_2 [NAME ...]

The programs are those of ``tests/tools/migrate/cases/proof``, in the style of public tutorials.
Each runs as it is on the release that it was written for (one for a TPU by ``tpudist run``, on a
virtual one); then it is migrated to latest, for Keras 2 and for Keras 3, and runs on the plain
TensorFlow of the Python that runs, where nothing can be imported but what the result imports. A
TPU of plain TensorFlow is MirroredStrategy on logical CPUs (:mod:`compat.make.seeded`). Some run
between the steps as well. All numbers that are printed are compared. It exits with 1 if nothing
was told of a program that then fails or prints other numbers, and writes the table that
``compat/MIGRATED.md`` begins with.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import pathlib
import re
import runpy
import subprocess
import sys
import tempfile
import traceback
from typing import Any, Iterator

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CASES = ROOT / "tests" / "tools" / "migrate" / "cases" / "proof"
PAGE = ROOT / "compat" / "MIGRATED.md"
BEGIN, END = "<!-- proof: begin -->\n", "<!-- proof: end -->\n"
RESULTS = ROOT / "compat" / "make" / "proof.json"
#: Packages that are there only for a result that names them, and what tpudist brings.
PACKAGES = ("tf_keras", "tf_slim", "tensorflow_probability", "tensorflow_estimator", "tpudist")
WITH_TPUDIST = {"tensorflow_estimator", "tf_keras"}
#: {step in between: groups of programs that take it}.
STEPS = {"contrib": ("tpu",), "2.0": ("tpu",), "2.2": ("tpu", "keras2")}
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[-+]?\d+)?(?![\w])")
_CLOSE = 1e-4
_LEGACY = "TF_USE_LEGACY_KERAS"


def programs() -> dict[str, tuple[str, str]]:
    """{name: (group, text)} of the programs."""
    found = {}
    for path in sorted(CASES.glob("*.txt")):
        parts = re.split(r"^== (.*)\n", path.read_text("utf-8"), flags=re.M)[1:]
        found.update({n: (path.stem, text) for n, text in zip(parts[::2], parts[1::2])})
    return found


def release_of(group: str, text: str) -> str:
    """The release that a program was written for."""
    return "2.2" if group == "keras2" or group == "tpu" and "contrib" not in text else "1.15"


# In the processes that run programs, of any Python.


def serve(folder: str) -> None:
    """Runs what ``runs.json`` of a folder lists, each in a fork that has imported TensorFlow."""
    import tensorflow

    del tensorflow
    found = {}
    runs = json.loads(pathlib.Path(folder, "runs.json").read_text("utf-8"))
    for key, (text, how) in runs.items():
        output = pathlib.Path(folder, "output")
        if os.fork() == 0:
            code = _child(folder, text, how, str(output))
            os._exit(code)
        code = os.wait()[1] >> 8
        found[key] = {"code": code, "said": "", "numbers": []}
        said = output.read_text("utf-8", "replace")
        if code:
            found[key]["said"] = (said.strip().split("\n") or [""])[-1][:200]
        else:
            found[key]["numbers"] = [float(n) for n in _NUMBER.findall(_plain(said))]
        print("%s %s" % (key, found[key]["said"] or "runs"), file=sys.stderr, flush=True)
    pathlib.Path(folder, "found.json").write_text(json.dumps(found), "utf-8")


def _child(folder: str, text: str, how: str, output: str) -> int:
    with open(output, "w") as file, open(os.devnull, "w") as nothing:
        os.dup2(file.fileno(), 1)
        os.dup2(nothing.fileno(), 2)
    path = pathlib.Path(folder, "program.py")
    path.write_text(text, "utf-8")
    sys.argv = [str(path)]
    sys.path[:0] = [folder]
    try:
        if how == "runner":
            from tpudist.legacy import runner

            return runner.run(str(path)) or 0
        if how != "as it is":
            _hide(text)
            if how == "mirrored" and "tpudist" not in text:
                from compat.make import seeded

                seeded.mirror(2)
        runpy.run_path(str(path), run_name="__main__")
    except SystemExit as error:
        return int(error.code or 0)
    except BaseException:  # noqa: BLE001
        print(traceback.format_exc())
        return 1
    finally:
        sys.stdout.flush()
    return 0


def _hide(text: str) -> None:
    """Makes packages that a program does not name fail to be imported."""
    words = set(re.findall(r"\w+", text))
    if _LEGACY in words:
        words.add("tf_keras")
    if "tensorflow_probability" in words:
        words.add("tf_keras")  # its extra tf brings it
    if "tpudist" in words:
        words |= WITH_TPUDIST
    for name in PACKAGES:
        if name not in words:
            for module in list(sys.modules):
                if module.split(".")[0] == name:
                    del sys.modules[module]
            sys.modules[name] = None  # type: ignore[assignment]


def _plain(text: str) -> str:
    """What is printed without Keras' bars of progress, and as NumPy 1 prints numbers."""
    parts = [each for each in re.split("[\r\b\n]", text) if not re.search("ETA:|s/step", each)]
    return re.sub(r"np\.\w+\(([^()]*)\)", r"\1", "\n".join(parts))


# In the process that compares.


def run_all(python: str, runs: dict[str, tuple[str, str]], legacy: bool) -> dict[str, Any]:
    """{key: what came of a run} of {key: (text, how)}, by a Python.

    `legacy` ones begin with the line that asks for Keras 2 before TensorFlow is imported, which it
    is already in a fork: there the line is in the environment.
    """
    environment = {
        **{key: value for key, value in os.environ.items() if "KERAS" not in key},
        "TF_ENABLE_ONEDNN_OPTS": "0",
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "TPUDIST_TPU": "virtual:2",
        **({_LEGACY: "1"} if legacy else {}),
    }
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "runs.json").write_text(json.dumps(runs), "utf-8")
        command = [python, "-m", "compat.make.proof", "--serve", folder]
        subprocess.run(command, cwd=ROOT, env=environment, check=True)
        return json.loads(pathlib.Path(folder, "found.json").read_text("utf-8"))


def migrated(text: str, to: str, *options: str) -> dict[str, Any]:
    """{"text", "rewritten", "left"} of a program that is migrated."""
    from tpudist import cli

    with tempfile.TemporaryDirectory() as folder:
        path, report = pathlib.Path(folder, "program.py"), io.StringIO()
        path.write_text(text, "utf-8")
        words = ["migrate", str(path), "--to", to, "--write", "--report", "json", *options]
        with contextlib.redirect_stdout(report), contextlib.redirect_stderr(io.StringIO()):
            cli.main(words)
        (file,) = json.loads(report.getvalue())["files"] or [{"rewritten": [], "left": []}]
        left = ["%s: %s" % (use["rule"], use["seen"]) for use in file["left"]]
        new = path.read_text("utf-8")
    return {"text": new, "rewritten": len(file["rewritten"]), "left": left}


def _plans(every: dict[str, tuple[str, str]]) -> Iterator[tuple[str, str, str, dict[str, Any]]]:
    """Yields (name, what it is migrated to, the Python that runs it, as of `migrated`)."""
    for name, (group, text) in every.items():
        for keras in ("2", "3"):
            yield name, keras, "plain", migrated(text, "latest", "--keras", keras)
        for step, groups in STEPS.items():
            if group in groups and (step != "contrib" or "contrib" in text):
                python = "1.15" if step == "contrib" else "2.2"
                yield name, "to " + step, python, migrated(text, step)


def results(pythons: dict[str, str], every: dict[str, tuple[str, str]]) -> dict[str, Any]:
    """{program: {"release", "2", "3", "to 2.2", ...}}."""
    runs: dict[str, dict[str, tuple[str, str]]] = {python: {} for python in pythons}
    for name, (group, text) in every.items():
        how = "runner" if group == "tpu" else "as it is"
        runs[release_of(group, text)][name + "\nbefore"] = text, how
    plans = list(_plans(every))
    hows = {"plain": "mirrored", "1.15": "runner", "2.2": "runner"}
    runs["legacy"] = {}
    for name, to, python, made in plans:
        is_tpu = every[name][0] == "tpu"
        how = hows[python] if is_tpu else "plain" if python == "plain" else "as it is"
        if python == "plain" and _LEGACY in made["text"]:
            python = "legacy"
        runs[python]["%s\n%s" % (name, to)] = made["text"], how
    done: dict[str, Any] = {}
    for python, of in runs.items():
        legacy = python == "legacy"
        done.update(run_all(pythons["plain" if legacy else python], of, legacy) if of else {})
    found: dict[str, Any] = {}
    for name, (group, text) in every.items():
        found[name] = {"release": release_of(group, text), "before": done[name + "\nbefore"]}
    for name, to, _, made in plans:
        found[name][to] = _compared(found[name]["before"], done["%s\n%s" % (name, to)], made)
    return found


def _compared(before: Any, after: Any, made: dict[str, Any]) -> dict[str, Any]:  # noqa: ANN401
    pairs = list(zip(before["numbers"], after["numbers"]))
    apart = max((abs(a - b) / max(abs(a), abs(b), 1e-1) for a, b in pairs), default=0.0)
    if len(before["numbers"]) != len(after["numbers"]):
        apart = -1.0
    kept = {key: made[key] for key in ("rewritten", "left")}
    return {**kept, "code": after["code"], "said": after["said"], "difference": apart}


def is_right(run: dict[str, Any]) -> bool:
    """Whether a result runs and prints the same numbers."""
    return run["code"] == 0 and 0 <= run["difference"] <= _CLOSE


def _cell(run: dict[str, Any]) -> str:
    if not is_right(run):
        word = "fails" if run["code"] else "differs"
        return "told, " + word if run["left"] else "**%s**" % word
    return "%.0e" % run["difference"] if run["difference"] else "same"


def _steps(each: dict[str, Any]) -> str:
    return ", ".join("%s: %s" % (k[3:], _cell(v)) for k, v in each.items() if k[:3] == "to ")


def wrong(found: dict[str, Any]) -> list[str]:
    """The programs that fail or differ though nothing was told of them."""
    return [
        "%s (%s)" % (name, key)
        for name, each in found.items()
        for key, run in each.items()
        if "left" in run and not run["left"] and not is_right(run)
    ]


def table(found: dict[str, Any]) -> str:
    """The table, and what it sums up to."""
    lines = [
        "| program | release | rewritten | told | Keras 2 | told | Keras 3 | steps between |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, each in found.items():
        two, three = each["2"], each["3"]
        cells = [name, each["release"], two["rewritten"], len(two["left"]), _cell(two)]
        cells += [len(three["left"]), _cell(three), _steps(each)]
        lines.append("| %s |" % " | ".join(map(str, cells)))
    counts = [sum(is_right(each[key]) for each in found.values()) for key in ("2", "3")]
    head = "%d programs: %d print the same numbers with Keras 2, %d with Keras 3. Wrong after "
    head += '"Nothing left.": %s.\n\n'
    counts = (len(found), *counts, ", ".join(wrong(found)) or "none")
    return head % counts + "\n".join(lines) + "\n"


def main(arguments: list[str]) -> int:
    """Runs the programs and writes the table; returns 1 if one is wrong after "Nothing left."."""
    if arguments[:1] == ["--serve"]:
        serve(arguments[1])
        return 0
    pythons = {"1.15": arguments[0], "2.2": arguments[1], "plain": sys.executable}
    every = programs()
    found = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {}
    names = arguments[2:] or list(every)
    found.update(results(pythons, {name: every[name] for name in names}))
    kept = {name: found[name] for name in every if name in found}
    RESULTS.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n", "utf-8")
    above, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    PAGE.write_text(above + BEGIN + table(kept) + END + rest.partition(END)[2], "utf-8")
    for name in wrong({name: found[name] for name in names}):
        print("nothing was told of %s, which is not right" % name)
    return int(bool(wrong(kept)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
