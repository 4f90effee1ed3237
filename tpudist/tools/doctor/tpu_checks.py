"""The checks of TPUs: chips, names, runtimes, and what the one that was asked for says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpudist.cloud import runtimes
from tpudist.errors import TPUNameError
from tpudist.tools.doctor import releases, tpus
from tpudist.tools.doctor.findings import NOTE, PROBLEM
from tpudist.virtual import system

if TYPE_CHECKING:
    from typing import Iterator, Tuple

    from tpudist.tools.doctor.environment import Environment

    Found = Iterator[Tuple[str, str, str, str]]


def chip_without_kernels(env: Environment) -> Found:
    """A TPU VM with a TensorFlow that cannot drive its chips."""
    if not env.chips or env.variant in (None, "tpu") or tpus.virtual(env):
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
    name = tpus.virtual(env)
    try:
        if name:
            system.parse(name)
    except TPUNameError as error:
        yield PROBLEM, "TPUDIST_TPU: " + error.seen, error.why, error.instead


def runtime_does_not_match(env: Environment) -> Found:
    """A remote TPU's runtime that is not of the client's minor release."""
    target = runtimes.runtime_for(env.tensorflow)
    if target is None or (tpus.virtual(env) and not env.looked):
        return
    node = (env.looked or {}).get("node") or {}
    name = node.get("name") or tpus.remote(env) or "NAME"
    instead = runtimes.line_that_sets(name, env.tensorflow, env.runtime)
    release = runtimes.release_in(env.runtime)
    if release and releases.minor(release) != releases.minor(env.tensorflow):
        yield (
            PROBLEM,
            "TensorFlow %s and TPU runtime %s" % (env.tensorflow, env.runtime),
            "client and runtime talk an unversioned protocol: only equal x.y "
            "releases work (patch releases have no runtime: %s)" % target,
            instead,
        )
    elif tpus.remote(env) and not release:
        yield (
            NOTE,
            "TPU %r, whose runtime version cannot be known offline" % name,
            "only a runtime of TensorFlow %s answers this client" % target,
            "tpudist doctor --tpu %s, which asks it; %s; or tell me: tpudist doctor "
            "--runtime VERSION" % (name, instead),
        )


def tpu_cannot_be_used(env: Environment) -> Found:
    """What the TPU that was asked for says of itself, or why it cannot be asked."""
    error = (env.looked or {}).get("error")
    if error:
        yield PROBLEM, error["seen"], error["why"], error["instead"]


def resolver_cannot_ask(env: Environment) -> Found:
    """TensorFlow 2.0 and 2.1 resolve names only with Google's client."""
    missing = [
        name
        for name in ("google-api-python-client", "oauth2client")
        if name not in env.distributions
    ]
    name = tpus.remote(env)
    if (
        name
        and "://" not in name
        and missing
        and not tpus.virtual(env)
        and releases.within(env.tensorflow, "2.0", "2.1")
    ):
        yield (
            PROBLEM,
            "TPU %r and no %s" % (name, " and no ".join(missing)),
            "TPUClusterResolver of TensorFlow %s raises ImportError without them" % env.tensorflow,
            'pip install "tpudist[tpu]"',
        )
