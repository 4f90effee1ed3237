"""The table of public scripts and their eras: what it says is compared with what is read."""

import os
import subprocess

import pytest

from compat.make import eras, programs


def test_the_table_names_each_script_once_and_eras_only():
    code_bases = eras.read()
    assert len({each[:2] for each in code_bases}) == len(code_bases)
    assert sum(len(each.scripts) for each in code_bases) >= 300
    named = {era for each in code_bases for of in each.scripts.values() for era in of}
    assert named == {"contrib", "2.0", "2.2"}


@pytest.mark.parametrize(("right", "lines"), [("contrib", 0), ("2.0|2.2", 1)])
def test_a_wrong_era_is_named(tmp_path, right, lines):
    (tmp_path / "eras.txt").write_text("[some/code 2020-01-01 lib]\n%s lib/app/train.py\n" % right)
    (tmp_path / "lib" / "app").mkdir(parents=True)
    (tmp_path / "lib" / "app" / "train.py").write_text("import helper\nhelper.session()\n")
    text = "import tensorflow as tf\ndef session(): tf.contrib\n"
    (tmp_path / "lib" / "helper.py").write_text(text)
    (code_base,) = eras.read(str(tmp_path / "eras.txt"))
    said = eras.wrong(code_base, str(tmp_path))
    assert len(said) == lines
    assert all("train.py is of 2.0 or 2.2: era: contrib (tf.contrib at" in each for each in said)


@pytest.mark.slow
def test_the_model_garden_of_2_1_and_2_2(capsys, tmp_path):
    """Its wheels are fetched by pip: most of its scripts were taken for contrib's once."""
    code = eras.main(["--only", "tf-models-official", "--work", str(tmp_path)])
    assert code == 0, capsys.readouterr().out


def test_a_revision_is_the_last_one_of_its_day_whatever_the_time(tmp_path):
    repository = tmp_path / "some+code" / "repo"
    command = ["git", "-C", str(repository), "-c", "user.name=a", "-c", "user.email=a@b.c"]
    subprocess.run(["git", "init", "-q", str(repository)], check=True)
    for hour in ("2020-01-01T00:10", "2020-01-01T23:50", "2020-01-02T00:10"):
        (repository / "when.txt").write_text(hour)
        environment = dict(os.environ, GIT_COMMITTER_DATE=hour + ":00Z")
        subprocess.run([*command, "add", "when.txt"], check=True)
        subprocess.run([*command, "commit", "-qm", hour], check=True, env=environment)
    folder, _ = programs.fetch("some/code", "2020-01-01", str(tmp_path), str(tmp_path / "work"))
    with open(os.path.join(folder, "when.txt"), encoding="utf-8") as file:
        assert file.read() == "2020-01-01T23:50"
