"""What the page of long proofs says of a command."""

import pytest

from tests.nightly import __main__, jobs, records

PYTEST = """...F [100%]
tpudist on tensorflow-cpu 2.4.4, Python 3.8.18
FAILED tests/a.py::test_b
1 failed, 313 passed, 1 skipped in 114.35s (0:01:54)

release  TensorFlow  Python  result      seconds
2.4      2.4.4       3.8.18  failed (1)  125.4
"""
RANDOM = """TensorFlow 2.21.0, function mode, 3 replicas, v2_0, 75 examples, seed 3301
75 programs agree, 0 of them up to {}; 38 s
TensorFlow 2.21.0, graph mode, 2 replicas, v2_2, 100 examples, seed 3301
100 programs agree, 3 of them up to {'split after trace': 3}; 81 s
"""
FIGURES = """tensorflow-cpu 2.21.0, Python 3.11.9, 2 CPUs

| what | measured | at most |
|---|---|---|
| a step | 1.03x | 1.10x |
| memory | 1.30x (above) | 1.25x |
"""


@pytest.mark.parametrize(
    ("text", "code", "result"),
    [
        (
            PYTEST,
            1,
            "FAILED (1); 1 failed, 313 passed, 1 skipped; "
            "tpudist on tensorflow-cpu 2.4.4, Python 3.8.18",
        ),
        (RANDOM, 0, "175 programs agree; TensorFlow 2.21.0"),
        ("survived: x\nkilled 31 of 32\n", 1, "FAILED (1); killed 31 of 32"),
        (FIGURES, 0, "2 figures, 1 above their bounds"),
        ("361 scripts, 0 of a wrong era\n", 0, "361 scripts, 0 of a wrong era"),
        ("no environment\n", 2, "FAILED (2)"),
    ],
)
def test_what_a_command_gave(text, code, result):
    assert records.result(text.splitlines(keepends=True), code) == result


def test_a_row_takes_the_place_of_an_older_one(tmp_path):
    page = tmp_path / "page.md"
    one = records.Row("random", "2.8", "differential --seed 7 -n 3", "3 agree", "abc", "2026-01-02")
    two = one._replace(release="2.15")
    newer = one._replace(command="differential --seed 8 -n 3", result="FAILED (1)")
    for row in (one, two, newer):
        records.write(page, row)
    assert records.read(page) == [newer, two]


def test_no_page_has_no_rows(tmp_path):
    assert records.read(tmp_path / "page.md") == []


def test_every_part_has_a_command():
    assert {job.part for job in jobs.jobs(jobs.PARTS, 1)} == set(jobs.PARTS)
    assert all(jobs.on_release(job, job.releases[0]) for job in jobs.jobs(jobs.PARTS, 1))


@pytest.mark.parametrize("arguments", [["nope"], ["random", "--releases", "2.99"]])
def test_what_runs_nothing_is_refused(arguments, capsys):
    with pytest.raises(SystemExit) as ended:
        __main__.main(arguments)
    assert ended.value.code == 2
    assert arguments[-1] in capsys.readouterr().err
