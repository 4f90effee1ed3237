"""pytest's last lines about pins: how many were recorded and compared, which are unused.

A pin is unused if its test passed without asking for it, and it has a record
on this release (a test may pin other things on other releases). A test that
is gone is only known to be gone if the whole of its module ran and passed.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tpudist.tools.pins import SUFFIX, releases, store

if TYPE_CHECKING:
    from typing import Any, Iterator, Sequence

    import pytest


def write(terminal: Any, config: pytest.Config, ran: Sequence[Any]) -> None:
    """Writes the lines; with ``--pins-record`` drops what is unused.

    Args:
      terminal: pytest's terminal reporter.
      config: pytest's configuration.
      ran: the reports of the tests' calls.
    """
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
    release = releases.current()
    for module, pins in _unused(terminal, config, ran, release):
        if drops:
            store.drop(_file(config, module), pins, release)
        for test, name in pins:
            terminal.write_line(
                "pins: %r of %s::%s is unused%s"
                % (name, module, test, ", dropped" if drops else "; pytest --pins-record drops it")
            )


def _file(config: pytest.Config, module: str) -> str:
    return os.path.join(str(config.rootpath), os.path.splitext(module)[0] + SUFFIX)


def _unused(
    terminal: Any, config: pytest.Config, ran: Sequence[Any], release: str
) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """(module, [(test, name), ...]) of each module that has unused pins."""
    whole = _whole_modules(terminal, config, ran)
    for module in sorted({report.nodeid.split("::")[0] for report in ran}):
        checked = {
            _test(report): getattr(report, "tpudist_pins", {"checked": ()})["checked"]
            for report in ran
            if report.nodeid.split("::")[0] == module and report.outcome == "passed"
        }
        pins = [
            (test, name)
            for test, entries in store.read(_file(config, module)).items()
            for name, entry in entries.items()
            if release in entry.on
            and (name not in checked[test] if test in checked else module in whole)
        ]
        if pins:
            yield module, sorted(pins)


def _test(report: Any) -> str:
    return report.nodeid.partition("::")[2]


def _whole_modules(terminal: Any, config: pytest.Config, ran: Sequence[Any]) -> set[str]:
    """Modules of which every test was collected, ran and passed, in this process."""
    items = getattr(getattr(terminal, "_session", None), "items", [])
    passed = {report.nodeid for report in ran if report.outcome == "passed"}
    part = set(getattr(config, "tpudist_pins_partial", ()))
    part |= {os.path.basename(str(arg).split("::")[0]) for arg in config.args if "::" in str(arg)}
    modules = {item.nodeid.split("::")[0] for item in items}
    broken = {item.nodeid.split("::")[0] for item in items if item.nodeid not in passed}
    return {
        module
        for module in modules - broken
        if module not in part and os.path.basename(module) not in part
    }
