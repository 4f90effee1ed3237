"""The files of a program: which are read, and what is no Python."""

import os

import pytest

from tpudist.errors import ScriptError
from tpudist.surfaces.eras import packages, program


@pytest.mark.parametrize(
    "files",
    [
        dict(script="import helper", helper="s.call_for_each_tower(f)"),
        dict(script="from helper import f", helper="s.call_for_each_tower(f)"),
        {
            "script": "from pack import helper",
            "pack/__init__": "",
            "pack/helper": "s.call_for_each_tower(f)",
        },
        {"script": "import pack.helper", "pack/helper": "s.call_for_each_tower(f)"},
        {
            "script": "import pack",
            "pack/__init__": "from . import helper",
            "pack/helper": "s.call_for_each_tower(f)",
        },
        {
            "script": "import pack",
            "pack/__init__": "from .helper import f",
            "pack/helper": "from .. import other",
            "other": "s.call_for_each_tower(f)",
        },
        dict(script="import a", a="import b", b="import a\ns.call_for_each_tower(f)"),
        dict(script="def f():\n  import helper", helper="s.call_for_each_tower(f)"),
    ],
    ids=lambda files: ", ".join(files.values()).replace("\n", ";"),
)
def test_modules_beside_the_script_are_read(write, files):
    found = program.read(write(**files)).decision
    assert found.era == "contrib"
    assert found.decisive[0].path.endswith(("helper.py", "other.py", "b.py"))


def test_a_script_of_a_package_imports_by_the_packages_name(write, tmp_path):
    write(**{"pack/__init__": "", "pack/helper": "s.call_for_each_tower(f)"})
    write(**{"pack/script": "from pack import helper"})
    found = program.read(str(tmp_path / "pack" / "script.py")).decision
    assert [os.path.basename(each.path) for each in found.decisive] == ["helper.py"]


@pytest.mark.parametrize("below", ["", "/models"])
def test_modules_below_pythonpath_are_the_users_if_the_script_is_below_it(
    write, tmp_path, monkeypatch, below
):
    named = str(tmp_path / below.strip("/"))
    write(
        **{"models/run/script": "from %s import tool" % ("models.tools" if not below else "tools")}
    )
    write(**{"models/tools/tool": "s.call_for_each_tower(f)"})
    script = str(tmp_path / "models" / "run" / "script.py")
    assert program.read(script).decision.era == "v2_2"
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(["", "/nowhere", named]))
    assert program.own_folder(script) == os.path.realpath(named)
    assert program.read(script).decision.era == "contrib"


def test_pythonpath_elsewhere_is_no_folder_of_the_users(write, tmp_path_factory, monkeypatch):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "tool.py").write_text("s.call_for_each_tower(f)")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(elsewhere), os.sep]))
    script = write(script="import tool")
    assert program.own_folder(script) == os.path.realpath(os.path.dirname(script))
    assert program.read(script).decision.era == "v2_2"


def test_modules_that_are_not_imported_are_not_read(write):
    path = write(script="strategy.run(f)", helper="s.call_for_each_tower(f)")
    assert not program.read(path).decision.outvoted


def test_a_broken_module_beside_the_script_is_left_out(write):
    path = write(script="import helper\nstrategy.run(f)", helper="print 'x'")
    assert program.read(path).decision.era == "v2_2"


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("import os\nprint 'epoch', 1\n", 2),
        ("try:\n  pass\nexcept IOError, e:\n  pass\n", 3),
        ("return 1\n", 1),
        ("x = 1\n\tif x:\n", 2),
    ],
)
def test_not_python_3(write, source, line):
    path = write(script=source)
    with pytest.raises(ScriptError) as caught:
        program.parse(path)
    assert caught.value.seen.startswith("%s:%d is not Python 3" % (path, line))
    assert "2to3 -w script.py" in caught.value.instead


@pytest.mark.parametrize("data", [b"\x00\x01", b"PK\x03\x04\xff", b"\xff\xfe = 1"])
def test_not_text(tmp_path, data):
    path = tmp_path / "script.py"
    path.write_bytes(data)
    with pytest.raises(ScriptError, match="is not Python 3"):
        program.parse(str(path))


def test_the_encoding_of_a_file_is_its_own(tmp_path):
    path = tmp_path / "script.py"
    path.write_bytes("# coding: latin-1\ns = 'é'\nstrategy.run(f)".encode("latin-1"))
    assert program.read(str(path)).decision.era == "v2_2"


def test_nothing_is_run(write, tmp_path):
    path = write(script="open(%r, 'w')\nstrategy.run(f)" % str(tmp_path / "written"))
    program.read(path)
    assert not (tmp_path / "written").exists()


def test_a_file_of_a_package_that_cannot_be_parsed_is_passed_over_and_no_fault_of_ours(
    tmp_path, monkeypatch
):
    first = "import tensorflow as tf\ntf.contrib.tpu.rewrite\n"
    (tmp_path / "of_python_2.py").write_text(first + "print 'tensorflow'\n", "utf-8")
    (tmp_path / "null.py").write_bytes(first.encode() + b"\0")
    (tmp_path / "whole.py").write_text(first, "utf-8")
    assert {os.path.basename(each.path) for each in packages.names_of(str(tmp_path))} == {
        "whole.py"
    }
    monkeypatch.setattr(packages.evidence, "uses", lambda nodes, path: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        packages.names_of(str(tmp_path))
