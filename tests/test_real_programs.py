"""The list of real programs: its page is made of its results, its runs are the programs' own."""

import pytest

from compat.make import programs, programs_equal_tf2


def test_the_page_is_made_of_the_results():
    with open(programs.PAGE, encoding="utf-8") as file:
        assert file.read() == programs.page(programs.results())


def test_what_tensorflow_2_sets_for_itself_does_not_reach_a_program(monkeypatch, tmp_path):
    monkeypatch.setenv("TF2_BEHAVIOR", "1")
    monkeypatch.setenv("ANOTHER", "1")
    given = programs.environment(str(tmp_path), "", str(tmp_path))
    assert given["ANOTHER"] == "1" and "TF2_BEHAVIOR" not in given


def watched(loss, accuracy, variable, printed):
    """What a run of a program returned, had and printed."""
    call = {"floats": {"loss": loss, "accuracy": accuracy}, "seconds": 1.0}
    return {"calls": {"train": [call]}, "variables": {"kernel": [variable]}, "printed": printed}


def test_losses_variables_and_accuracies_are_compared_apart():
    one = watched(2.0, 0.5, 8.0, [("loss", 2.0), ("val_acc", 0.5)])
    two = watched(1.0, 0.4, 4.0, [("loss", 1.6), ("val_acc", 0.5)])
    assert programs_equal_tf2.differences(one, two) == {
        "losses": [1, 1.0],
        "printed": [1, pytest.approx(0.25)],
        "accuracies": [2, pytest.approx(0.25)],
        "variables": [1, 1.0],
    }


def test_runs_that_print_other_numbers_are_not_compared():
    one = watched(2.0, 0.5, 8.0, [("loss", 2.0)])
    with pytest.raises(SystemExit, match="other numbers are printed"):
        programs_equal_tf2.differences(one, dict(one, printed=[]))
