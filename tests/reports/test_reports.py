"""Programs of public bug reports end as their docstrings say, and the page has them all."""

import re

import pytest

from compat.make import reports


@pytest.mark.parametrize("name", reports.names())
def test_a_docstring_tells_what_the_page_needs(name):
    report = reports.read(name)
    assert re.match(r"[12]\.\d+$", report.release)
    assert re.match(r"https://github\.com/[\w.-]+/[\w.-]+/issues/\d+$", report.link)
    assert bool(report.prints) != bool(report.fails)


def test_the_page_has_a_row_for_each_report_and_no_other():
    found = reports.rows()
    assert list(found) == reports.names()
    for name, row in found.items():
        report = reports.read(name)
        assert row.startswith("| [%s](" % report.situation)
        assert row.endswith("(%s) |\n" % report.link)
        assert (report.prints or report.fails).replace("|", "\\|") in row


def test_links_are_of_different_reports():
    links = [reports.read(name).link for name in reports.names()]
    assert len(set(links)) == len(links) >= 30


@pytest.mark.slow
@pytest.mark.proof
@pytest.mark.parametrize("name", reports.names())
def test_a_program_ends_as_it_says(name):
    printed, error, said = reports.run(name)
    assert reports.is_right(reports.read(name), printed, error), said
