"""The doctor's findings as text that is read at a glance, and as JSON."""

from __future__ import annotations

import json
from typing import Any, Iterator, Mapping, Sequence

import tpudist
from tpudist.tools.doctor import checks, releases
from tpudist.tools.doctor.checks import PROBLEM, Finding
from tpudist.tools.doctor.environment import Environment


def written(env: Environment, as_json: bool = False) -> tuple[str, int]:
    """The report on a machine, as text or one JSON object, and the exit code."""
    findings = checks.diagnose(env)
    problems = sum(finding.level == PROBLEM for finding in findings)
    report = {
        "tpudist": tpudist.__version__,
        "python": {"version": env.python, "executable": env.executable, "machine": env.machine},
        "tensorflow": {
            "version": env.tensorflow,
            "path": env.probe.get("path"),
            "variant": env.variant,
            "distributions": env.tensorflows,
        },
        "keras": keras(env),
        "tpu": env.tpu,
        "findings": [finding._asdict() for finding in findings],
        "ok": not problems,
    }
    text = json.dumps(report, indent=2, sort_keys=True) if as_json else _text(report, findings)
    return text + "\n", int(bool(problems))


def keras(env: Environment) -> dict[str, str | None]:
    """Identifies the Keras that ``tf.keras`` is: its ``generation``, and ``version`` of a package.

    The generation is "tensorflow" (inside it), "keras 2", "Keras 3", "tf_keras", or None.
    """
    package = env.probe.get("keras")
    if package in (None, "tensorflow"):
        return {"generation": package, "version": None}
    names = ("tf-keras",) if package == "tf_keras" else ("keras", "keras-nightly")
    version = next((env.distributions[name] for name in names if name in env.distributions), None)
    if package == "tf_keras":
        return {"generation": package, "version": version}
    new = releases.within(version, "3.0", None)
    return {"generation": "Keras 3" if new else "keras 2", "version": version}


def _text(report: Mapping[str, Any], findings: Sequence[Finding]) -> str:
    """The report for people: facts, then problems with their cures."""
    lines = ["tpudist %s doctor" % report["tpudist"], ""]
    lines += ["%-11s %s" % pair for pair in _facts(report)]
    for finding in findings:
        lines += [
            "",
            "%s  %s" % (finding.level.upper(), finding.seen),
            "  why   " + finding.why,
            "  type  " + finding.instead,
        ]
    problems = sum(finding.level == PROBLEM for finding in findings)
    notes = len(findings) - problems
    verdict = "%d problem%s" % (problems, "s" * (problems != 1)) if problems else "No problems"
    tail = ", %d note%s" % (notes, "s" * (notes != 1)) if notes else ""
    return "\n".join([*lines, "", verdict + tail + "."])


def _facts(report: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield "Python", "%(version)s, %(machine)s, %(executable)s" % report["python"]
    tensorflow, keras, tpu = report["tensorflow"], report["keras"], report["tpu"]
    if tensorflow["version"]:
        wheels = " + ".join(tensorflow["distributions"]) or "no distribution of it"
        yield (
            "TensorFlow",
            "%s, %s build (%s)" % (tensorflow["version"], tensorflow["variant"], wheels),
        )
        yield "", tensorflow["path"] or "does not import"
    else:
        yield "TensorFlow", "none"
    words = {None: "none that imports", "tensorflow": "tf.keras inside TensorFlow"}
    yield "Keras", words.get(keras["generation"], "%(generation)s (%(version)s)" % keras)
    library = "; libtpu %s" % tpu["libtpu"] if tpu["libtpu"] else ""
    if tpu["kind"] is None:
        yield "TPU", "none; a virtual one needs none: TPUDIST_TPU=virtual:8" + library
    elif tpu["kind"] == "local":
        chips = "%d chips here (%s ...): " % (len(tpu["chips"]), tpu["chips"][0])
        yield "TPU", chips + tpu["words"] + library
    else:
        yield "TPU", "%(kind)s %(name)s (%(source)s): %(words)s" % tpu + library
