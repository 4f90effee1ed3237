"""``tpudist completion``: bash completes verbs, options, choices and files by what it prints."""

import shutil
import subprocess
import sys

import pytest

from tests import ROOT
from tpudist import cli

ASK = """
eval "$("$0" -m tpudist completion bash)"
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_shtab_tpudist
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.mark.skipif(not shutil.which("bash"), reason="bash is what completes")
@pytest.mark.parametrize(
    ("words", "completed"),
    [
        (["mig"], ["migrate"]),
        (["run", "tra"], ["train.py"]),
        (["run", "--er"], ["--era"]),
        (["run", "--era", ""], ["contrib", "2.0", "2.2"]),
        (["help", "pi"], ["pins"]),
        (["completion", ""], ["bash", "zsh", "fish"]),
    ],
)
def test_bash_completes(tmp_path, monkeypatch, words, completed):
    pytest.importorskip("shtab", reason="it writes the scripts")
    monkeypatch.setenv("PYTHONPATH", ROOT)
    (tmp_path / "train.py").write_text("")
    done = subprocess.run(
        ["bash", "-c", ASK, sys.executable, "tpudist"] + words,
        cwd=str(tmp_path),
        stdout=subprocess.PIPE,
        text=True,
    )
    assert done.stdout.split() == completed


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_get_every_verb(capsys, shell):
    shtab = pytest.importorskip("shtab", reason="it writes the scripts")
    is_known = shell in shtab.SUPPORTED_SHELLS
    assert cli.main(["completion", shell]) == (0 if is_known else 2)
    out, err = capsys.readouterr()
    assert all(verb in out for verb in cli.VERBS) if is_known else "--upgrade" in err


def test_a_missing_shtab_is_told(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "shtab", None)
    assert cli.main(["completion", "bash"]) == 2
    assert 'pip install --upgrade "tpudist[completion]"' in capsys.readouterr().err
