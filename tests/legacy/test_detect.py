"""The era of a script, from its source alone."""

import textwrap

import pytest

from tpudist.errors import ScriptError
from tpudist.legacy import detect, evidence


@pytest.fixture
def write(tmp_path):
    """Writes files; returns the path of the first."""

    def files(**sources):
        for name, source in sources.items():
            path = tmp_path / (name + ".py")
            path.parent.mkdir(exist_ok=True)
            path.write_text(textwrap.dedent(source))
        return str(tmp_path / (next(iter(sources)) + ".py"))

    return files


def names(found):
    return [(name.name, name.line) for name in found]


@pytest.mark.parametrize(
    "era, source, decisive",
    [
        (
            "contrib",
            """
        import tensorflow as tf
        s = tf.contrib.distribute.TPUStrategy(r, 1)
        """,
            ("tf.contrib.distribute.TPUStrategy", 3),
        ),
        ("contrib", "import tensorflow.contrib.distribute as d", ("tf.contrib.distribute", 1)),
        (
            "contrib",
            "from tensorflow.contrib.distribute.python import tpu_strategy",
            ("tf.contrib.distribute.python.tpu_strategy", 1),
        ),
        (
            "contrib",
            "from tensorflow.contrib import distribute as d\nd.TPUStrategy",
            ("tf.contrib.distribute", 1),
        ),
        (
            "contrib",
            "import tensorflow.compat.v1 as tf\ntf.contrib.slim.x()",
            ("tf.compat.v1.contrib.slim.x", 2),
        ),
        ("contrib", "import tensorflow as t\nwith t.Session() as s: pass", ("tf.Session", 2)),
        ("contrib", "from tensorflow import layers\nlayers.dense(x, 1)", ("tf.layers", 1)),
        (
            "contrib",
            "import tensorflow\ntensorflow.VariableAggregation.ONLY_FIRST_TOWER",
            ("tf.VariableAggregation.ONLY_FIRST_TOWER", 2),
        ),
        ("contrib", "anything.call_for_each_tower(fn)", (".call_for_each_tower", 1)),
        ("contrib", "ctx.tower_id", (".tower_id", 1)),
        ("contrib", "self.strategy.unwrap(x)", (".unwrap", 1)),
        ("contrib", "strategy.experimental_run(f, it)", (".experimental_run", 1)),
        ("v2_0", "s.experimental_run_v2(f, args=(x,))", (".experimental_run_v2", 1)),
        ("v2_2", "strategy.run(f, args=(x,))", (".run", 1)),
        ("v2_2", "self._distribution_strategy.run(f)", (".run", 1)),
        (
            "v2_2",
            """
        import tensorflow as tf
        dist = tf.distribute.MirroredStrategy()
        dist.run(f)
        """,
            (".run", 4),
        ),
        (
            "v2_2",
            "tpu.experimental_split_to_logical_devices(x, [1, 2])",
            (".experimental_split_to_logical_devices", 1),
        ),
        (
            "v2_2",
            "import tensorflow as tf\ntf.distribute.ValueContext",
            ("tf.distribute.ValueContext", 2),
        ),
    ],
)
def test_one_name_decides(write, era, source, decisive):
    found = detect.detect(write(script=source))
    assert found.era == era
    assert names(found.decisive)[0] == decisive
    assert not found.outvoted


def test_names_of_two_eras_leave_the_newest(write):
    found = detect.detect(
        write(
            script="""
        import tensorflow as tf
        strategy = tf.distribute.experimental.TPUStrategy(resolver)
        strategy.reduce("SUM", x, axis=None)
        """
        )
    )
    assert found.era == "v2_2"


def test_a_name_of_one_era_beats_names_of_two(write):
    found = detect.detect(
        write(
            script="""
        import tensorflow as tf
        strategy = tf.distribute.experimental.TPUStrategy(resolver)
        strategy.experimental_run_v2(f)
        """
        )
    )
    assert found.era == "v2_0"


def test_the_newest_of_mixed_evidence(write):
    found = detect.detect(
        write(
            script="""
        import tensorflow as tf
        if old:
          s = tf.contrib.distribute.TPUStrategy(r, 1)
        else:
          strategy.run(f)
        """
        )
    )
    assert found.era == "v2_2"
    assert names(found.decisive) == [(".run", 6)]
    assert names(found.outvoted) == [("tf.contrib.distribute.TPUStrategy", 4)]
    assert detect.describe(found) == (
        "era: v2_2 (.run at script.py:6); not contrib "
        "(tf.contrib.distribute.TPUStrategy at script.py:4): --era overrides"
    )


def test_the_line_that_is_printed(write):
    found = detect.detect(
        write(
            script="""
        import tensorflow as tf
        tf.Session
        tf.Session
        tf.placeholder
        tf.app.run()
        tf.ConfigProto()
        """
        )
    )
    assert detect.describe(found) == (
        "era: contrib (tf.Session at script.py:3, tf.placeholder at script.py:5, and 2 more)"
    )


@pytest.mark.parametrize(
    "source",
    [
        "",
        "import tensorflow as tf\ntf.constant(1)",
        "import tensorflow as tf\ntf.VariableAggregation.SUM",
        "import tensorflow.compat.v1 as tf\ntf.Session()",
        "import tensorflow as tf\ntf.compat.v1.Session()",
        "subprocess.run(command)\nframe.map(f)\nmodel.update(x)\nlog.group()",
        "strategy.reduce(a, b)\nstrategy.scope()\nstrategy.num_replicas_in_sync",
        "strategy.extended.colocate_vars_with(v)",
        "strategy.extended.call_for_each_replica(f)",
        "tf.Session()",
        "from .tensorflow import contrib",
        "import tensorflow_probability as tf\ntf.contrib",
        "'tf.contrib.distribute.TPUStrategy'",
    ],
)
def test_names_that_tell_nothing(write, source):
    path = write(script=source)
    with pytest.raises(ScriptError) as caught:
        detect.detect(path)
    assert path in caught.value.seen
    assert "--era contrib|2.0|2.2 script.py" in caught.value.instead


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
    found = detect.detect(write(**files))
    assert found.era == "contrib"
    assert found.decisive[0].path.endswith(("helper.py", "other.py", "b.py"))


def test_modules_that_are_not_imported_are_not_read(write):
    path = write(script="strategy.run(f)", helper="s.call_for_each_tower(f)")
    assert not detect.detect(path).outvoted


def test_a_broken_module_beside_the_script_is_left_out(write):
    path = write(script="import helper\nstrategy.run(f)", helper="print 'x'")
    assert detect.detect(path).era == "v2_2"


@pytest.mark.parametrize(
    "source, line",
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
        detect.detect(path)
    assert caught.value.seen.startswith("%s:%d is not Python 3" % (path, line))
    assert "2to3 -w script.py" in caught.value.instead


@pytest.mark.parametrize("data", [b"\x00\x01", b"PK\x03\x04\xff", b"\xff\xfe = 1"])
def test_not_text(tmp_path, data):
    path = tmp_path / "script.py"
    path.write_bytes(data)
    with pytest.raises(ScriptError, match="is not Python 3"):
        detect.detect(str(path))


def test_the_encoding_of_a_file_is_its_own(tmp_path):
    path = tmp_path / "script.py"
    path.write_bytes("# coding: latin-1\ns = 'é'\nstrategy.run(f)".encode("latin-1"))
    assert detect.detect(str(path)).era == "v2_2"


def test_nothing_is_run(write, tmp_path):
    path = write(script="open(%r, 'w')\nstrategy.run(f)" % str(tmp_path / "written"))
    detect.detect(path)
    assert not (tmp_path / "written").exists()


@pytest.mark.parametrize(
    "dotted, eras",
    [
        ("contrib", ("contrib",)),
        ("contrib.layers.dense", ("contrib",)),
        ("contribution", ()),
        ("train.AdamOptimizer", ("contrib",)),
        ("compat.v1.train.AdamOptimizer", ()),
        ("distribute.experimental.TPUStrategy", ("v2_0", "v2_2")),
        ("compat.v2.distribute.experimental.TPUStrategy", ("v2_0", "v2_2")),
        ("function", ()),
    ],
)
def test_eras_of_a_name(dotted, eras):
    assert evidence.eras_of_name(dotted) == eras
