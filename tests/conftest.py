"""What every test run says first, and interpreters without packages for the CLI tests."""

import os
import platform
import subprocess
import sys

import pytest

from tests import ROOT
from tests.helpers import cores, differences
from tpudist import machine

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
# Of the caller's environment no variable decides how tpudist behaves here.
for _name in ("TPUDIST_TPU", "TPUDIST_ALLOW_EAGER_RUN", "TPUDIST_DEVICE"):
    os.environ.pop(_name, None)
if os.environ.get("TPUDIST_TEST_DEVICE"):  # see tests/gpu
    os.environ["TPUDIST_DEVICE"] = os.environ["TPUDIST_TEST_DEVICE"]

# What a TPU would refuse is told where a test asks for it.
os.environ.setdefault(machine.TPU_CHECK, "off")

# An error of a batching rule is one here: what steps aside for users fails a test.
os.environ[machine.STRICT_BATCHING] = "1"


try:
    import hypothesis
except ImportError:  # the tests that use it say so themselves
    hypothesis = None
else:  # how long an example takes is the machine's business
    hypothesis.settings.register_profile(
        "tpudist", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
    )
    hypothesis.settings.load_profile("tpudist")


def pytest_report_header(config):
    """Which TensorFlow, Python and hypothesis seed this run is of."""
    return "%s, hypothesis %s with seed %s" % (
        _runs_on(),
        getattr(hypothesis, "__version__", None),
        config.getoption("--hypothesis-seed", default=None)
        or "random (repeat one with --hypothesis-seed)",
    )


def pytest_terminal_summary(terminalreporter):
    """The same at the end, where a long log is read."""
    terminalreporter.write_line(_runs_on())


def _runs_on():
    """The TensorFlow, by what is installed: the tests themselves import it, or do not."""
    from tpudist.toolbox import installed

    found, _ = installed.distributions()
    tensorflow = ["%s %s" % (name, found[name]) for name in machine.TENSORFLOWS if name in found]
    device = os.environ.get("TPUDIST_DEVICE")
    return "tpudist on %s, Python %s%s" % (
        " and ".join(tensorflow) or "no TensorFlow",
        platform.python_version(),
        ", virtual cores compute on %s" % device if device else "",
    )


def pytest_collection_modifyitems(config, items):
    """Expects the failures that ``compat/differences`` lists for this release and these cores."""
    from tpudist.toolbox import installed

    found, _ = installed.distributions()
    versions = [found[name] for name in machine.TENSORFLOWS if name in found][:1]
    lists = [".".join(version.split(".")[:2]) for version in versions]
    if cores.KIND:
        lists += [cores.KIND] + [cores.KIND + "-" + minor for minor in lists]
    differences.apply(
        [entry for name in lists for entry in differences.read(name)],
        items,
        whole_files=not any("::" in argument for argument in config.args),
    )


@pytest.fixture(scope="session", autouse=True)
def cpu_divided():
    """Divides the CPU into 8 for all tests: a process does it once.

    TensorFlow 1.15 cannot call branches of functions on such CPUs if its TensorFlow 2 behaviour
    was switched on afterwards; modules of tests do that when they are collected.
    """
    if cores.KIND == "cpus":
        from tpudist.tfcompat import devices

        devices.provided("CPU", 8)


@pytest.fixture(autouse=True)
def tpu_as_found():
    """A TPU that a test starts is stopped with it: the next one may be about none."""
    found = _is_started()
    yield
    if _is_started() and not found:
        sys.modules["tpudist.system.cluster"].shutdown_tpu_system("virtual")


def _is_started():
    """Whether a test has initialized a TPU in this process; TensorFlow is not imported for it."""
    cluster = sys.modules.get("tpudist.system.cluster")
    return cluster is not None and cluster.is_started()


@pytest.fixture(scope="session")
def bare_python(tmp_path_factory):
    """Runs a Python that has tpudist, numpy and packaging, and nothing else.

    Returns:
      A function from arguments to the finished process.
    """
    import numpy
    import packaging

    folder = tmp_path_factory.mktemp("bare")
    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", str(folder / "venv")], check=True
    )
    libraries = folder / "lib"
    libraries.mkdir()
    for module in (numpy, packaging):
        place = os.path.dirname(module.__file__)
        for beside in (place, place + ".libs"):
            if os.path.isdir(beside):
                (libraries / os.path.basename(beside)).symlink_to(beside)
    scripts = "Scripts" if os.name == "nt" else "bin"
    environ = {
        name: value for name, value in os.environ.items() if not name.startswith(("TPU", "PYTHON"))
    }
    environ["PYTHONPATH"] = os.pathsep.join([ROOT, str(libraries)])

    def run(*arguments):
        return subprocess.run(
            [str(folder / "venv" / scripts / "python")] + list(arguments),
            env=environ,
            cwd=str(folder),
            capture_output=True,
            text=True,
        )

    return run
