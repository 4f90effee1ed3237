"""A pytest plugin that tells which tests take the most CPU time.

    python -m pytest -p tests.cpu_seconds ...

ends with the twenty dearest, in seconds of all CPUs and of the processes that they started and
waited for. Wall time, which ``--durations`` tells, is that of other work on the machine too.
"""

import os

import pytest

_SHOWN = 20
_NAME = "cpu_seconds"


def _now():
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item):
    """Notes when a test begins."""
    item.stash[_BEGAN] = _now()
    yield


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Puts the seconds into a test's last report, which a worker sends to the main process."""
    if call.when == "teardown":
        item.user_properties.append((_NAME, _now() - item.stash[_BEGAN]))
    yield


def pytest_terminal_summary(terminalreporter):
    """Prints the dearest tests."""
    reports = [
        report
        for reports in terminalreporter.stats.values()
        for report in reports
        if getattr(report, "when", None) == "teardown"
    ]
    found = sorted(
        ((dict(report.user_properties)[_NAME], report.nodeid) for report in reports), reverse=True
    )
    total = sum(seconds for seconds, _ in found)
    terminalreporter.section("CPU seconds: %.1f in %d tests" % (total, len(found)))
    for seconds, name in found[:_SHOWN]:
        terminalreporter.write_line("%8.1f  %s" % (seconds, name))


_BEGAN = pytest.StashKey()
