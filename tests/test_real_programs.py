"""The list of real programs: its page is made of its results, its runs are the programs' own."""

from compat import programs


def test_the_page_is_made_of_the_results():
    with open(programs.PAGE, encoding="utf-8") as file:
        assert file.read() == programs.page(programs.results())


def test_what_tensorflow_2_sets_for_itself_does_not_reach_a_program(monkeypatch, tmp_path):
    monkeypatch.setenv("TF2_BEHAVIOR", "1")
    monkeypatch.setenv("ANOTHER", "1")
    given = programs.environment(str(tmp_path), "", str(tmp_path))
    assert given["ANOTHER"] == "1" and "TF2_BEHAVIOR" not in given
