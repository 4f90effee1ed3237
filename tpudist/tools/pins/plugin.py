"""The pytest plugin: the ``pin`` fixture and its options, and ``--tpu-check``.

Installed with tpudist, so it must cost others nothing: it imports the standard library
and pytest, and the rest once a pin is used.

A pin is unused if its test passed without asking for it, and it has a record
on this release (a test may pin other things on other releases).
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Generator, Iterator, Sequence

import pytest

from tpudist.machine import TPU_CHECK
from tpudist.tools.pins import SUFFIX

if TYPE_CHECKING:
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


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Says what was recorded, and which pins no test asked for."""
    ran = [
        report
        for reports in terminalreporter.stats.values()
        for report in reports
        if getattr(report, "when", None) == "call"
    ]
    modules = {report.nodeid.split("::")[0] for report in ran}
    if any(os.path.exists(_pin_file(config, module)) for module in modules):
        _write_summary(terminalreporter, config, ran)


def _pin_file(config: pytest.Config, module: str) -> str:
    return os.path.join(str(config.rootpath), os.path.splitext(module)[0] + SUFFIX)


def _write_summary(terminal: Any, config: pytest.Config, ran: Sequence[Any]) -> None:
    """Writes the lines on the tests' calls; with ``--pins-record`` drops what is unused."""
    from tpudist.tools.pins import store

    logs = [report.tpudist_pins for report in ran if hasattr(report, "tpudist_pins")]
    count = {
        what: sum(len(log[what]) for log in logs) for what in ("checked", "recorded", "updated")
    }
    count["compared"] = count["checked"] - count["recorded"] - count["updated"]
    said = [
        "%d %s" % (count[what], what) for what in ("recorded", "updated", "compared") if count[what]
    ]
    if said:
        terminal.write_line("pins: " + ", ".join(said))
    drops = config.getoption("--pins-record")
    release = store.current_release()
    for module, pins in _unused(config, ran, release):
        if drops:
            store.drop(_pin_file(config, module), pins, release)
        for test, name in pins:
            terminal.write_line(
                "pins: %r of %s::%s is unused%s"
                % (name, module, test, ", dropped" if drops else "; pytest --pins-record drops it")
            )


def _unused(
    config: pytest.Config, ran: Sequence[Any], release: str
) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """(module, [(test, name), ...]) of each module that has unused pins."""
    from tpudist.tools.pins import store

    for module in sorted({report.nodeid.split("::")[0] for report in ran}):
        checked = {
            _test(report): getattr(report, "tpudist_pins", {"checked": ()})["checked"]
            for report in ran
            if report.nodeid.split("::")[0] == module and report.outcome == "passed"
        }
        pins = [
            (test, name)
            for test, entries in store.read(_pin_file(config, module)).items()
            for name, entry in entries.items()
            if release in entry.on and test in checked and name not in checked[test]
        ]
        if pins:
            yield module, sorted(pins)


def _test(report: Any) -> str:
    return str(report.nodeid).partition("::")[2]
