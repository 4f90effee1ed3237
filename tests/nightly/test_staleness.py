"""A long proof holds until what it proves is changed."""

import os
import subprocess

import pytest

from tests import ROOT, release
from tests.nightly import jobs, records, staleness

JOB = jobs.Job("mutation", ["python", "-m", "tests.mutation"], ["newest"], {})


@pytest.fixture
def checkout(tmp_path):
    """A repository with a file that the job proves, and one that it does not; commits in it."""
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)

    def commit(path):
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        with open(str(file), "a", encoding="utf-8") as opened:
            opened.write("changed\n")
        user = ["-c", "user.name=a", "-c", "user.email=a@b"]
        for words in (["add", "-A"], [*user, "commit", "-q", "--no-verify", "-m", "x"]):
            subprocess.run(["git", *words], cwd=str(tmp_path), check=True)
        return records.commit(str(tmp_path))

    return commit


def told(folder, commit, result="killed 3 of 3"):
    """What is said of the job with one row."""
    row = records.of_job(JOB, "newest")._replace(result=result, commit=commit, date="2026-01-02")
    records.write(folder / "compat" / "NIGHTLY.md", row)
    return staleness.lines(str(folder), [JOB])


def test_a_change_of_what_it_proves_ends_it_and_another_does_not(tmp_path, checkout):
    run_at = checkout("tpudist/virtual/rules.py")
    assert told(tmp_path, run_at) == []
    checkout("README.md")
    assert told(tmp_path, run_at) == []
    changed = checkout("tpudist/virtual/rules.py")
    (line,) = told(tmp_path, run_at)
    assert line.startswith("mutation on newest: it was run at %s, and %s" % (run_at, changed))
    assert told(tmp_path, changed) == []


def test_rows_that_were_just_written_make_no_commit_dirty(tmp_path, checkout):
    run_at = checkout("tpudist/virtual/rules.py")
    told(tmp_path, run_at)
    committed = checkout("README.md")  # and the page
    told(tmp_path, committed, "killed 2 of 2")
    assert records.commit(str(tmp_path)) == committed
    (tmp_path / "README.md").write_text("otherwise", "utf-8")
    assert records.commit(str(tmp_path)) == committed + "+"


def test_what_was_not_run_or_did_not_pass_is_told(tmp_path, checkout):
    run_at = checkout("tpudist/virtual/rules.py")
    assert "never run" in staleness.lines(str(tmp_path), [JOB])[0]
    assert "FAILED (1)" in told(tmp_path, run_at, "FAILED (1); killed 2 of 3")[0]
    assert "stopped by hand" in told(tmp_path, run_at, "stopped by hand; 12 programs agree")[0]
    assert "does not have" in told(tmp_path, run_at + "+")[0]
    assert "not known here" in told(tmp_path, "0123abc")[0]


def test_each_part_names_what_is_there():
    assert set(jobs.COVERS) == set(jobs.PARTS)
    named = [path for folders in jobs.COVERS.values() for path in folders]
    assert [path for path in named if not os.path.exists(os.path.join(ROOT, path))] == []


def test_a_release_fails_while_a_proof_does_not_hold(monkeypatch, capsys):
    monkeypatch.setattr(staleness, "lines", lambda: ["random on 2.2: it was never run"])
    monkeypatch.setattr(release, "build", lambda folder: pytest.fail("it builds nothing"))
    assert release.main([]) == 1
    assert "random on 2.2: it was never run" in capsys.readouterr().out
