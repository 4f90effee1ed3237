"""The doctor's findings as text that is read at a glance, and as JSON."""

from __future__ import annotations

import json
from typing import Any, Iterator, Mapping, Sequence

import tpudist
from tpudist.tools.doctor import releases
from tpudist.tools.doctor.checks import PROBLEM, Finding
from tpudist.tools.doctor.environment import Environment


def as_json(environment: Environment, findings: Sequence[Finding]) -> str:
    """One JSON object; keys and names of checks are stable, new ones may come."""
    return json.dumps(as_dict(environment, findings), indent=2, sort_keys=True) + "\n"


def as_dict(environment: Environment, findings: Sequence[Finding]) -> dict[str, Any]:
    """The report as plain data."""
    env = environment
    return {
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
        "ok": not any(finding.level == PROBLEM for finding in findings),
    }


def keras(env: Environment) -> dict[str, str | None]:
    """Identifies the Keras that ``tf.keras`` is.

    Returns:
      ``generation``: ``"tensorflow"`` (inside TensorFlow), ``"keras 2"``,
      ``"Keras 3"``, ``"tf_keras"``, or None if there is none that imports;
      ``version``: of the package, None inside TensorFlow.
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


def as_text(environment: Environment, findings: Sequence[Finding]) -> str:
    """The report for people: facts, surfaces, then problems with their cures."""
    report = as_dict(environment, findings)
    lines = ["tpudist %s doctor" % report["tpudist"], ""]
    lines += ["%-11s %s" % pair for pair in _facts(environment, report)]
    for finding in findings:
        lines += [
            "",
            "%s  %s" % (finding.level.upper(), finding.seen),
            "  why   " + finding.why,
            "  type  " + finding.instead,
        ]
    lines += ["", _verdict(findings)]
    return "\n".join(lines) + "\n"


def _facts(env: Environment, report: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield "Python", "%(version)s, %(machine)s, %(executable)s" % report["python"]
    if env.tensorflow:
        wheels = " + ".join(env.tensorflows) or "no distribution of it"
        yield "TensorFlow", "%s, %s build (%s)" % (env.tensorflow, env.variant, wheels)
        yield "", env.probe.get("path") or "does not import"
    else:
        yield "TensorFlow", "none"
    yield "Keras", _keras(**report["keras"])
    asked = ((env.looked or {}).get("node") or {}).get("name")
    here = _tpu(**report["tpu"])
    yield "TPU", "asked for: " + asked if asked and report["tpu"]["kind"] is None else here
    for line in _looked(env.looked or {}):
        yield "", line


def _keras(generation: str | None, version: str | None) -> str:
    if generation is None:
        return "none that imports"
    if generation == "tensorflow":
        return "tf.keras inside TensorFlow"
    return "%s (%s)" % (generation, version)


def _tpu(
    kind: str | None,
    name: str | None,
    source: str | None,
    words: str,
    chips: Sequence[str],
    libtpu: str | None,
    looked: object,
) -> str:
    library = "; libtpu %s" % libtpu if libtpu else ""
    if kind is None:
        return "none; a virtual one needs none: TPUDIST_TPU=virtual:8" + library
    if kind == "local":
        return "%d chips here (%s ...): %s%s" % (len(chips), chips[0], words, library)
    return "%s %s (%s): %s%s" % (kind, name, source, words, library)


def _looked(looked: Mapping[str, Any]) -> Iterator[str]:
    """Lines on the TPU that was asked for."""
    node, slice_ = looked.get("node"), looked.get("slice")
    if node:
        yield "%(name)s (zone %(zone)s, project %(project)s): %(state)s, health " % node + (
            node["health"] or "not reported"
        )
        shape = slice_ and "%(name)s, %(devices)d devices on %(hosts)d hosts" % slice_
        yield "%s (%s), at %s" % (
            node["type"] or "a type not reported",
            shape or "no slice of the table",
            ", ".join(node["addresses"]) or "no address yet",
        )
    if looked.get("configured"):
        yield "runtime set to TensorFlow %s" % looked["configured"]
    elif looked.get("runtime"):
        yield "runtime %s" % looked["runtime"]


def _verdict(findings: Sequence[Finding]) -> str:
    problems = sum(finding.level == PROBLEM for finding in findings)
    notes = len(findings) - problems
    tail = ", %d note%s" % (notes, "s" * (notes != 1)) if notes else ""
    if not problems:
        return "No problems" + tail + "."
    return "%d problem%s%s." % (problems, "s" * (problems != 1), tail)
