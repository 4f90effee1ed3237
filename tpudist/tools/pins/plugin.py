"""The pytest plugin. Installed with tpudist, so it must cost others nothing:
it imports the standard library and pytest, and the rest once a pin is used.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from typing import Any, Generator, Sequence

    from tpudist.tools.pins.fixture import Pin


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds ``--pins-update`` and ``--pins-record``."""
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
        help="record every pin anew, on this TensorFlow release, and drop the unused ones",
    )


@pytest.fixture
def pin(request: pytest.FixtureRequest) -> Pin:
    """Compares values with those that the first run recorded.

    Returns:
      A ``tpudist.tools.pins.fixture.Pin``.
    """
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


def pytest_deselected(items: Sequence[pytest.Item]) -> None:
    """Notes modules of which only a part runs."""
    for item in items:
        partial = item.config.__dict__.setdefault("tpudist_pins_partial", set())
        partial.add(item.nodeid.split("::")[0])


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Says what was recorded, and which pins no test asked for."""
    ran = [
        report
        for reports in terminalreporter.stats.values()
        for report in reports
        if getattr(report, "when", None) == "call"
    ]
    modules = {report.nodeid.split("::")[0] for report in ran}
    if not any(os.path.exists(_pin_file(config, module)) for module in modules):
        return
    from tpudist.tools.pins import summary

    summary.write(terminalreporter, config, ran)


def _pin_file(config: pytest.Config, module: str) -> str:
    from tpudist.tools.pins import SUFFIX

    return os.path.join(str(config.rootpath), os.path.splitext(module)[0] + SUFFIX)
