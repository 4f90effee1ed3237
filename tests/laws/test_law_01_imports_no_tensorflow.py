"""Law 1: importing tpudist, ``tpudist --help`` and ``tpudist migrate`` import no TensorFlow."""

import json
import os
import subprocess
import sys

import pytest

from tests.laws import source
from tpudist import cli

HEAVY = ("tensorflow", "tensorflow_core", "keras", "tf_keras")

HIDE = """
import sys
class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in %r:
            raise ModuleNotFoundError("hidden: " + name)
sys.meta_path.insert(0, Hidden())
""" % (HEAVY + ("numpy",),)

REPORT = """
import json, sys
print("\\n" + json.dumps(sorted({name.split(".")[0] for name in sys.modules})))
"""


def modules_after(code, hide=False):
    """Top-level modules that a fresh interpreter has loaded after some code."""
    process = subprocess.run(
        [sys.executable, "-c", (HIDE if hide else "") + code + REPORT],
        capture_output=True,
        text=True,
        env=dict(os.environ, PYTHONPATH=source.ROOT),
        cwd=source.ROOT,
    )
    assert process.returncode == 0, process.stderr
    return json.loads(process.stdout.strip().splitlines()[-1])


def help_of(*arguments):
    return "from tpudist import cli\ntry:\n    cli.main(%r)\nexcept SystemExit:\n    pass\n" % (
        list(arguments) + ["--help"]
    )


def verbs():
    action = next(each for each in cli.parser()._actions if each.dest == "verb_name")
    return sorted(action.choices)


CODES = dict(
    [
        ("import " + name, "import " + name)
        for name in (
            "tpudist",
            "tpudist.errors",
            "tpudist.surfaces",
            "tpudist.cli",
            "tpudist.tools.doctor.checks",
            "tpudist.contrib",
            "tpudist.v2_0",
            "tpudist.v2_2",
        )
    ]
    + [("tpudist --help", help_of())]
    + [("tpudist %s --help" % verb, help_of(verb)) for verb in verbs()]
    + [
        (
            "tpudist migrate",
            "from tpudist import cli\ncli.main(['migrate', 'examples', '--to', 'latest'])\n",
        )
    ]
)


@pytest.mark.parametrize("what", sorted(CODES))
@pytest.mark.parametrize("hide", [False, True], ids=["installed", "hidden"])
def test_imports_no_tensorflow(what, hide):
    assert not set(HEAVY) & set(modules_after(CODES[what], hide))


def test_help_imports_no_numpy():
    assert "numpy" not in modules_after(help_of())


def test_the_measure_sees_an_import(tmp_path):
    (tmp_path / "tensorflow.py").write_text("")
    code = "import sys; sys.path.insert(0, %r); import tensorflow" % str(tmp_path)
    assert "tensorflow" in modules_after(code)


def test_hiding_hides():
    code = "try:\n    import numpy\nexcept ImportError:\n    import wave\n"
    assert "wave" in modules_after(code, hide=True)
    assert "wave" not in modules_after(code)
