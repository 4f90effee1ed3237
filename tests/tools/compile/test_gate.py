"""Reports compared with limits and earlier reports, without pytest."""

import argparse
import json

import pytest

from tests.tools.compile import records
from tpudist import cli
from tpudist.errors import ArgumentError
from tpudist.tools.compile import command


def options(**given):
    default = {"json": None, "max_hbm": None, "baseline": None, "rtol": 0.05}
    return argparse.Namespace(**dict(default, **given))


@pytest.fixture
def written(tmp_path):
    """Writes a report; returns its path."""

    def write(name, *made):
        path = str(tmp_path / name)
        command.finish([("step", each) for each in made], options(json=path))
        return path

    return write


SAME = records.a_report()
LARGER = records.summarized(records.answer(cost={"flops": 2e6, "bytes accessed": 1e5}))


@pytest.mark.parametrize(
    ("text", "count"),
    [("14GiB", 14 << 30), ("512", 512), ("1.5 MiB", 3 << 19), ("2gb", 2 * 10**9), ("7B", 7)],
)
def test_size(text, count):
    assert command.size(text) == count


@pytest.mark.parametrize("text", ["", "x", "14 GiBs", "-1GiB"])
def test_a_wrong_size_is_refused(text):
    with pytest.raises(ArgumentError, match="14GiB"):
        command.size(text)


@pytest.mark.parametrize(("limit", "code"), [("12KiB", 0), ("12287", 1), ("1GiB", 0)])
def test_the_limit_of_hbm(limit, code, capsys):
    assert command.finish([("step", SAME)], options(max_hbm=limit)) == code
    assert ("more than --max-hbm 12287" in capsys.readouterr().err) == bool(code)


def test_the_baseline(written, capsys):
    path = written("old.json", SAME)
    assert command.finish([("step", SAME)], options(baseline=path)) == 0
    assert command.finish([("step", LARGER)], options(baseline=path)) == 1
    assert "FLOPs" in capsys.readouterr().err
    assert command.finish([("step", LARGER)], options(baseline=path, rtol=2.0)) == 0
    newer = LARGER._replace(versions=LARGER.versions._replace(libtpu="0.0.53"))
    assert command.finish([("step", newer)], options(baseline=path)) == 1
    assert "with libtpu 0.0.52; it is 0.0.53 now" in capsys.readouterr().err
    assert command.finish([("step", SAME)] * 2, options(baseline=path)) == 1
    failed = records.summarized(records.failed())
    assert command.finish([("step", failed)], options(baseline=path)) == 1
    told = capsys.readouterr().err
    assert "it compiled before" in told and "does not fit: v5e:2x4" in told


@pytest.mark.parametrize("content", [None, "{}", "[", '{"schema": 3}'])
def test_a_report_that_cannot_be_read_is_an_error(tmp_path, content, capsys):
    path = tmp_path / "old.json"
    if content is not None:
        path.write_text(content)
    script = tmp_path / "train.py"
    script.write_text("")
    assert cli.main(["run", "--compile", "v5e:2x4", "--baseline", str(path), str(script)]) == 2
    assert "old.json" in capsys.readouterr().err


def test_several_reports_are_one_file(tmp_path, written):
    path = written("both.json", SAME, LARGER)
    with open(path) as file:
        assert [each["name"] for each in json.load(file)["reports"]] == ["step", "step"]
    assert command.finish([("a", SAME), ("b", LARGER)], options(baseline=path)) == 0
    assert command.finish([("a", SAME), ("b", SAME)], options(baseline=path)) == 1


def test_errors_of_the_environment_precede_the_script(tmp_path, monkeypatch, capsys):
    versions = pytest.importorskip("tpudist.tfcompat.versions", reason="TensorFlow lowers first")
    if not versions.LOWERS_TO_HLO:
        pytest.skip("TensorFlow before 2.12 is refused first")
    script = tmp_path / "train.py"
    script.write_text("print('trained')\n")
    monkeypatch.setenv("TPUDIST_LIBTPU", str(tmp_path / "libtpu.so"))
    assert cli.main(["run", "--compile", "v5e:2x4", "--era", "2.2", str(script)]) == 2
    told = capsys.readouterr()
    assert "there is no such file" in told.err and "trained" not in told.out
