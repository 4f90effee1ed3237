"""The checks: one small function each, from an ``Environment`` to findings.

Every finding has the three parts of a tpudist error: what was seen, why that
cannot work, what to type instead. A problem makes the exit code 1; a note
does not.
"""

from __future__ import annotations

import collections
import os
from typing import TYPE_CHECKING, Iterator, List, NamedTuple, Optional, Tuple

from tpudist import machine
from tpudist.cloud import runtimes
from tpudist.errors import TPUNameError
from tpudist.tools.doctor import releases
from tpudist.tools.doctor.environment import Environment
from tpudist.virtual import system

if TYPE_CHECKING:
    Found = Iterator[Tuple[str, str, str, str]]

    #: [(specifier, why)] of one package.
    _Needs = List[Tuple[str, Optional[str]]]


#: The newest Python that TensorFlow has wheels for.
NEWEST_PYTHON = "3.13"

PROBLEM, NOTE = "problem", "note"


class Finding(NamedTuple):
    """The finding of a check."""

    level: str  # PROBLEM or NOTE
    check: str  # the name of the function that found it; stable, as in ``--json``
    # as in a ``TpudistError``
    seen: str
    why: str
    instead: str


def diagnose(environment: Environment) -> list[Finding]:
    """[Finding, ...] of all checks, problems first."""
    findings = [
        Finding(level, check.__name__, seen, why, instead)
        for check in CHECKS
        for level, seen, why, instead in check(environment)
    ]
    return sorted(findings, key=lambda finding: finding.level != PROBLEM)


def tensorflow_missing(env: Environment) -> Found:
    """No TensorFlow at all."""
    if env.tensorflow or env.probe.get("path"):
        return
    instead = 'pip install "tpudist[tensorflow]"'
    if not releases.within(env.python, "3.7", NEWEST_PYTHON):
        instead = "a Python from 3.7 to %s, then %s; TensorFlow has no wheel for Python %s" % (
            NEWEST_PYTHON,
            instead,
            env.python,
        )
    yield (
        PROBLEM,
        "no TensorFlow in %s" % env.executable,
        "tpudist drives TensorFlow's own runtime and ships none",
        instead,
    )


def tensorflow_shadowed(env: Environment) -> Found:
    """A user's file called tensorflow.py is what ``import tensorflow`` runs."""
    path = env.probe.get("path") or ""
    if os.path.basename(path) == "tensorflow.py":
        yield (
            PROBLEM,
            "import tensorflow runs %s" % path,
            "that file hides TensorFlow from every script beside it",
            "mv %s %s" % (path, path.replace("tensorflow.py", "my_tensorflow.py")),
        )


def tensorflow_broken(env: Environment) -> Found:
    """TensorFlow is installed and does not import."""
    error = env.probe.get("error")
    if not error or not env.tensorflows or env.probe.get("slow"):
        return
    why = "nothing that uses TensorFlow can run until it does"
    if "exit code -4" in error:
        why = "the processor lacks an instruction (AVX) that this wheel was built with"
    name, version = list(env.tensorflows.items())[0]
    yield (
        PROBLEM,
        "%s %s does not import: %s" % (name, version, error),
        why,
        "what the other problems say; if there are none: pip install "
        "--force-reinstall %s==%s" % (name, version),
    )


def tensorflow_slow(env: Environment) -> Found:
    """TensorFlow had not been imported when the doctor stopped to wait."""
    if env.probe.get("slow") and env.tensorflows:
        yield (
            NOTE,
            env.probe["error"],
            "the machine is busy, or reads from a slow disk; nothing is known to be broken, and "
            "what only TensorFlow itself knows is left out",
            "tpudist doctor again, which is faster where files have been read before",
        )


def keras_broken(env: Environment) -> Found:
    """TensorFlow imports and its Keras does not."""
    error = env.probe.get("keras_error")
    if error:
        yield (
            PROBLEM,
            "tf.keras does not import: %s" % error,
            "Keras is a package of its own, which does not fit TensorFlow %s" % env.tensorflow,
            "what the other problems say; if there are none: pip install --force-reinstall keras",
        )


def tensorflow_too_old(env: Environment) -> Found:
    """A TensorFlow from before ``tf.distribute``."""
    if env.tensorflow and releases.within(env.tensorflow, None, "1.12"):
        yield (
            PROBLEM,
            "TensorFlow %s" % env.tensorflow,
            "tpudist needs TensorFlow 1.13 or newer",
            'pip install --upgrade "tensorflow>=1.13.2"',
        )


def tensorflow_twice(env: Environment) -> Found:
    """Two wheels that write into the same folder."""
    wheels = {
        name: version
        for name, version in env.tensorflows.items()
        if name not in machine.PARTS_OF_TENSORFLOW
    }
    if len(wheels) < 2:
        return
    differ = len(set(wheels.values())) > 1
    keep = next(
        (name for name in ("tensorflow-tpu", "tensorflow-cpu", "tensorflow-gpu") if name in wheels),
        sorted(wheels)[0],
    )
    yield (
        PROBLEM if differ or "tensorflow-tpu" in wheels else NOTE,
        " and ".join("%s %s" % pair for pair in sorted(wheels.items())),
        "they write the same files, so what imports is a mixture; uninstalling "
        "one breaks the other (tf-keras pulls in 'tensorflow': install it with "
        "--no-deps)",
        "pip uninstall -y %s && pip install --no-deps --force-reinstall %s==%s"
        % (" ".join(sorted(wheels)), keep, wheels[keep]),
    )


def packages_do_not_fit(env: Environment) -> Found:
    """Packages whose release does not go with this TensorFlow's."""
    if env.tensorflow is None:
        return
    requirements = [text for texts in env.requires.values() for text in texts]
    wanted: dict[str, _Needs] = collections.OrderedDict()
    for package, specifier, why in releases.needs(env.tensorflow, requirements):
        wanted.setdefault(package, []).append((specifier, why))
    for package, rows in wanted.items():
        have = env.distributions.get(package)
        broken = [row for row in rows if have and not releases.fits(have, row[0])]
        is_declared = any(why is None for _, why in rows)
        if broken or (is_declared and not have):
            specifier = ",".join(text for text, _ in rows if text)
            needs = env.tensorflow, package, specifier
            why = next((why for _, why in broken if why), None)
            option = "--no-deps " if package == "tf-keras" else ""
            yield (
                PROBLEM,
                "%s %s beside TensorFlow %s, which needs %s%s"
                % (package, have or "is missing", *needs),
                why
                or "the TensorFlow wheel declares it; without it parts of "
                "TensorFlow fail, some of them late",
                'pip install %s"%s%s"' % (option, package, specifier),
            )


def legacy_keras_missing(env: Environment) -> Found:
    """TF_USE_LEGACY_KERAS without the package it asks for."""
    if (
        env.legacy_keras
        and releases.within(env.tensorflow, "2.15", None)
        and "tf-keras" not in env.distributions
    ):
        yield (
            PROBLEM,
            "TF_USE_LEGACY_KERAS is set and tf-keras is not installed",
            "tf.keras is tf_keras then, and cannot be imported",
            machine.legacy_keras_line(releases.minor(env.tensorflow) or ""),
        )


def keras_of_the_eras(env: Environment) -> Found:
    """Keras 3 alone, where code of the eras expects Keras 2."""
    version = releases.parse(env.tensorflow)
    if (
        version
        and not version.is_prerelease
        and releases.within(env.tensorflow, "2.16", None)
        and machine.LEGACY_KERAS not in env.variables
        and "keras" in env.distributions
        and "tf-keras" not in env.distributions
    ):
        yield (
            NOTE,
            "tf.keras is Keras 3 and tf-keras is not installed",
            "code of the three eras is written for Keras 2, which tpudist gives it from there: "
            "its optimizers, reset_states, models in TF 1 graphs, tf.layers",
            machine.legacy_keras_line(releases.minor(env.tensorflow) or ""),
        )


def chip_without_kernels(env: Environment) -> Found:
    """A TPU VM with a TensorFlow that cannot drive its chips."""
    if not env.chips or env.variant in (None, "tpu") or env.virtual_tpu:
        return
    own_image = env.variant == "cpu" and list(env.tensorflows) == ["tensorflow"]
    yield (
        NOTE if own_image else PROBLEM,
        "%d TPU chips (%s ...) and the %s build of TensorFlow %s"
        % (len(env.chips), env.chips[0], env.variant, env.tensorflow),
        "only a TPU build has the kernels ('No OpKernel was registered to support "
        "Op ConfigureDistributedTPU')%s"
        % (
            "; the wheel that a TPU VM image brings is one, a wheel from the package index is not"
            if own_image
            else ""
        ),
        'pip uninstall -y %s && pip install "tpudist[tpu]"' % " ".join(sorted(env.tensorflows)),
    )


def virtual_name(env: Environment) -> Found:
    """TPUDIST_TPU names a virtual slice that does not exist."""
    name = env.virtual_tpu
    try:
        if name:
            system.parse(name)
    except TPUNameError as error:
        yield PROBLEM, "TPUDIST_TPU: " + error.seen, error.why, error.instead


def runtime_unknown(env: Environment) -> Found:
    """A remote TPU, whose runtime has to be of the client's minor release."""
    target = runtimes.runtime_for(env.tensorflow)
    if env.tpu["kind"] == "remote" and target:
        yield (
            NOTE,
            "TPU %r, whose runtime version cannot be known offline" % env.tpu["name"],
            "only a runtime of TensorFlow %s answers this client (patch releases have none)"
            % target,
            runtimes.line_that_sets(env.tpu["name"], env.tensorflow),
        )


#: In the order of the report.
CHECKS = [
    tensorflow_missing,
    tensorflow_shadowed,
    tensorflow_broken,
    tensorflow_slow,
    keras_broken,
    tensorflow_too_old,
    tensorflow_twice,
    packages_do_not_fit,
    legacy_keras_missing,
    keras_of_the_eras,
    chip_without_kernels,
    virtual_name,
    runtime_unknown,
]
