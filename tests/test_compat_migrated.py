"""MIGRATED.md: a row that is counted again takes the place of the old one, and nothing else's."""

from compat.make import migrated

_BELOW = """
Counted by hand, on 2.2.

## Beside others

| repository | files |
|---|---|
| a/c | 13 |
"""


def test_what_stands_below_the_table_stays(tmp_path, monkeypatch):
    monkeypatch.setattr(migrated, "PAGE", tmp_path / "MIGRATED.md")
    cells = ["a/b | 12ab | 2.2 | 1", "a/b | 12ab | latest | 1", "b/a | 34cd | latest | 1"]
    page = migrated._HEAD + "".join("| %s |\n" % each for each in cells)
    migrated.PAGE.write_text(page + _BELOW, "utf-8")
    monkeypatch.setattr(migrated, "row", lambda *given: "| %s | %s | %s | 2 |" % given[1:])
    assert migrated.main(["f", "a/b", "12ab", "latest", "f", "a/a", "56ef", "2.2"]) == 0
    cells[1:2] = ["a/b | 12ab | latest | 2"]
    cells.insert(0, "a/a | 56ef | 2.2 | 2")
    page = migrated._HEAD + "".join("| %s |\n" % each for each in cells)
    assert migrated.PAGE.read_text("utf-8") == page + _BELOW


def test_a_page_that_is_not_there_is_made(tmp_path, monkeypatch):
    monkeypatch.setattr(migrated, "PAGE", tmp_path / "MIGRATED.md")
    monkeypatch.setattr(migrated, "row", lambda *given: "| %s | %s | %s | 2 |" % given[1:])
    migrated.main(["f", "a/b", "12ab", "latest"])
    assert migrated.PAGE.read_text("utf-8") == migrated._HEAD + "| a/b | 12ab | latest | 2 |\n"
