"""The pytest plugin: the ``pin`` fixture and its options, and ``--tpu-check``.

Installed with tpudist, so it must cost others nothing: it imports the standard library
and pytest, and the rest once a pin is used.

A pin is unused if its test passed without asking for it, and it has a record
on this release (a test may pin other things on other releases).
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Generator, Mapping, Sequence

import pytest

from tpudist.machine import TPU_CHECK
from tpudist.tools.pins import SUFFIX

if TYPE_CHECKING:
    from _pytest.terminal import TerminalReporter

    from tpudist.tools.pins.fixture import Pin


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds ``--pins-update``, ``--pins-record`` and ``--tpu-check``."""
    group = parser.getgroup("tpudist pins")
    group.addoption(
        "--pins-update",
        action="store_true",
        default=False,
        help="record anew the pins that differ, on this TensorFlow release",
    )
    group.addoption(
        "--pins-record",
        action="store_true",
        default=False,
        help="record every pin anew, on this TensorFlow release, and drop what a test asks no more",
    )
    parser.getgroup("tpudist").addoption(
        "--tpu-check",
        choices=("warn", "error", "off"),
        help="what becomes of what a TPU would refuse of the tests' steps; sets " + TPU_CHECK,
    )


def pytest_configure(config: pytest.Config) -> None:
    """Sets the variable that ``--tpu-check`` stands for, for this process and those it starts."""
    if config.getoption("--tpu-check"):
        os.environ[TPU_CHECK] = config.getoption("--tpu-check")


@pytest.fixture
def pin(request: pytest.FixtureRequest) -> Pin:
    """Compares values with those that the first run recorded."""
    from tpudist.tools.pins import fixture

    made = fixture.of_request(request)
    request.node.tpudist_pins = made.log
    return made


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, Any, None]:
    """Puts what a test did with its pins into its report, where xdist carries it."""
    outcome = yield
    log = getattr(item, "tpudist_pins", None)
    if log is not None and call.when == "call":
        outcome.get_result().tpudist_pins = log


def pytest_terminal_summary(terminalreporter: TerminalReporter, config: pytest.Config) -> None:
    """Says what was recorded, and which pins no test asked for; ``--pins-record`` drops those."""
    modules: dict[str, list[Any]] = {}
    for reports in terminalreporter.stats.values():
        for report in reports:
            if getattr(report, "when", None) == "call":
                modules.setdefault(report.nodeid.split("::")[0], []).append(report)
    paths = {
        module: os.path.join(str(config.rootpath), os.path.splitext(module)[0] + SUFFIX)
        for module in modules
    }
    if not any(map(os.path.exists, paths.values())):
        return
    from tpudist.tools.pins import store

    logs = [
        report.tpudist_pins
        for reports in modules.values()
        for report in reports
        if hasattr(report, "tpudist_pins")
    ]
    kinds = ("recorded", "updated", "checked")
    count = {what: sum(len(log[what]) for log in logs) for what in kinds}
    count["compared"] = count.pop("checked") - count["recorded"] - count["updated"]
    said = ["%d %s" % (number, what) for what, number in count.items() if number]
    if said:
        terminalreporter.write_line("pins: " + ", ".join(said))
    drops, release = config.getoption("--pins-record"), store.current_release()
    for module, reports in sorted(modules.items()):
        pins = _unused(store.read(paths[module]), reports, release)
        if drops and pins:
            store.drop(paths[module], pins, release)
        for test, name in pins:
            told = "pins: %r of %s::%s is unused" % (name, module, test)
            tail = ", dropped" if drops else "; pytest --pins-record drops it"
            terminalreporter.write_line(told + tail)


def _unused(
    kept: Mapping[str, Mapping[str, Any]], reports: Sequence[Any], release: str
) -> list[tuple[str, str]]:
    """[(test, name), ...] of the pins in a module's file that its tests did not ask for."""
    checked = {
        str(report.nodeid).partition("::")[2]: getattr(report, "tpudist_pins", {"checked": ()})[
            "checked"
        ]
        for report in reports
        if report.outcome == "passed"
    }
    return sorted(
        (test, name)
        for test, entries in kept.items()
        for name, entry in entries.items()
        if release in entry.on and test in checked and name not in checked[test]
    )
