"""Which packages besides the script's own files see its era's TensorFlow."""

import os
import sys
import textwrap

import pytest

from tests.helpers.generations import second_generation
from tpudist import cli
from tpudist.tfcompat import keras_packages

tf = pytest.importorskip("tensorflow")

CONTRIB = (
    "import tensorflow as tf\ndef optimizer(o):\n  return tf.contrib.tpu.CrossShardOptimizer(o)\n"
)
NEWER = "import tensorflow as tf\ntf.random.set_seed\ntf.summary.create_file_writer\n"
GUARDED = "import tensorflow as tf\nif hasattr(tf, 'contrib'):\n  tf.contrib.layers\n"
PLAIN = "import tensorflow.compat.v1 as tf\ntf.placeholder\n"
SCRIPT = "import sys, tensorflow as tf, library\nprint(library.tf is tf, sys.argv[1:])\n"


@pytest.fixture
def run(tmp_path, monkeypatch, capsys, at_start):
    """Runs ``tpudist run``; returns (exit code, stdout, stderr)."""

    def start(files, *arguments, path=()):
        for name, source in files.items():
            place = tmp_path / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(textwrap.dedent(source))
        for each in path:
            monkeypatch.syspath_prepend(str(tmp_path / each))
        monkeypatch.chdir(tmp_path)
        capsys.readouterr()
        code = cli.main(["run"] + list(arguments))
        stays = [each for each in sys.modules if each.partition(".")[0] in ("library", "pack")]
        taken = [sys.modules.pop(each) for each in stays]
        assert not [each for each in taken if "tpudist" in getattr(each, "tf", tf).__name__]
        return (code, *capsys.readouterr())

    return start


def test_a_library_on_pythonpath_is_the_programs_and_is_told(run):
    files = {"lib/library/__init__.py": CONTRIB, "app/train.py": SCRIPT}
    code, out, err = run(files, "--era", "contrib", "app/train.py", "x", path=["lib"])
    assert (code, out) == (0, "True ['x']\n"), err
    assert "library sees TensorFlow of the era contrib" in err and "--not library" in err


@second_generation
def test_a_library_elsewhere_tells_the_era(run):
    files = {
        "lib/library/__init__.py": "from library import steps\nfrom .steps import tf\n",
        "lib/library/steps.py": "import tensorflow as tf\ns.experimental_run_v2(f)\n".replace(
            "s.", "def go(s, f):\n  s."
        ),
        "app/train.py": "import library, tensorflow as tf\nprint(library.tf is tf, tf.__name__)\n",
    }
    code, out, err = run(files, "app/train.py", path=["lib"])
    assert (code, out) == (0, "True tpudist.v2_0.tensorflow\n"), err
    assert "era: 2.0 (.experimental_run_v2 at steps.py:3)" in err


def test_what_is_left_out_has_the_installed_tensorflow(run):
    files = {"lib/library/__init__.py": CONTRIB, "app/train.py": SCRIPT}
    arguments = ("--era", "contrib", "--not", "library", "app/train.py")
    code, out, err = run(files, *arguments, path=["lib"])
    assert (code, out) == (0, "False []\n"), err
    assert "library sees" not in err


@pytest.mark.parametrize(
    ("source", "why"),
    [
        (CONTRIB, "tf.contrib.tpu.CrossShardOptimizer at __init__.py:3"),
        (GUARDED, "tf.contrib"),
        (PLAIN, "the program imports it"),
        (NEWER, None),
        (NEWER + CONTRIB, None),
    ],
    ids=["contrib", "guarded", "plain", "newer", "mixed"],
)
@second_generation
def test_an_installed_package_is_the_programs_unless_its_names_are_of_another_era(run, source, why):
    files = {"env/site-packages/library/__init__.py": source}
    files["app/train.py"] = "import library\nprint(library.tf.__name__.partition('.')[0])\n"
    at = ["env/site-packages"]
    code, out, err = run(files, "--era", "contrib", "app/train.py", path=at)
    assert (code, out) == (0, "%s\n" % ("tpudist" if why else "tensorflow")), err
    assert ("library sees" in err) == bool(why) and (why or "") in err


@second_generation
def test_a_package_that_follows_tensorflow_and_what_it_imports(run):
    """What `wandb` imports is not the program's; an error says how it could be."""
    files = {
        "env/site-packages/wandb/__init__.py": "import tensorflow as tf\nimport library\n",
        "env/site-packages/library/__init__.py": PLAIN,
        "app/train.py": "import wandb as w\nprint(w.tf.__name__, w.library.tf.__name__)\n1 / 0\n",
    }
    at = ["env/site-packages"]
    code, out, err = run(files, "--era", "contrib", "app/train.py", path=at)
    assert code == 1 and "tpudist" not in out, (out, err)
    assert "library, wandb saw the installed TensorFlow, not the era's; --also library" in err
    also = ("--also", "library", "--also", "wandb")
    code, out, err = run(files, "--era", "contrib", *also, "app/train.py", path=at)
    assert out.split()[0].startswith("tpudist.contrib") and "saw the installed" not in err, err


@pytest.mark.parametrize(
    ("era", "other", "source"),
    [
        ("contrib", "2.2", "tf.contrib\ntf.distribute.experimental.TPUStrategy\n"),
        ("2.2", "contrib", "tf.distribute.experimental.TPUStrategy\ntf.distribute.ValueContext\n"
         "if hasattr(tf, 'contrib'):\n  tf.contrib.distribute\n"),
    ],
)  # fmt: skip
@second_generation
def test_a_failure_says_what_spoke_against_the_era(run, era, other, source):
    failing = {"train.py": "import tensorflow as tf\n" + source + "1 / 0\n"}
    code, _, err = run(failing, "train.py")
    assert code == 1 and "the era %s was read from names" % era in err
    assert "if the error comes of that, --era %s" % other in err
    assert "was read from names" not in run(failing, "--era", era, "train.py")[2]


def test_an_installed_package_of_another_era_is_taken_if_it_is_named(run):
    newer = "import tensorflow as tf\ndef f(): tf.random.set_seed(1)\n"
    files = {"env/site-packages/library/__init__.py": newer}
    files["app/train.py"] = "import library\nprint(library.tf.__name__)\n"
    arguments = ("--era", "contrib", "--also", "library", "app/train.py")
    code, out, err = run(files, *arguments, path=["env/site-packages"])
    assert (code, out) == (0, "tpudist.contrib.tensorflow\n"), err


def test_a_package_that_is_not_there_is_named(run):
    code, out, err = run({"train.py": ""}, "--era", "contrib", "--also", "nothing", "train.py")
    assert (code, out) == (2, "")
    assert "--also nothing" in err and "Traceback" not in err


MODULE = """
    import os, sys
    import tensorflow as tf
    from . import beside
    print(__name__, __package__, __spec__.name, os.path.relpath(__file__), sys.argv[1:])
    print(os.path.relpath(sys.argv[0]), os.path.realpath(sys.path[0]) == os.getcwd())
    print(beside.tf is tf, sys.modules["__main__"].tf is tf, tf.__name__)
    """


@pytest.mark.parametrize(
    ("name", "file", "package"),
    [
        ("pack.inner.train", "pack/inner/train.py", "pack.inner"),
        ("pack.inner", "pack/inner/__main__.py", "pack.inner"),
    ],
)
def test_a_module_runs_by_its_name(run, name, file, package):
    files = {
        "pack/__init__.py": "import tensorflow\nprint('parent', __name__)\n",
        "pack/inner/__init__.py": "",
        "pack/inner/beside.py": "import tensorflow as tf\ntf.contrib",
        file: MODULE,
    }
    spec = name if "train" in name else name + ".__main__"
    for start in (["-m", name], ["-m" + name]):
        code, out, err = run(files, *start, "--tpu", "x", "y")
        assert code == 0, err
        assert out.splitlines() == [
            "parent pack",
            "__main__ %s %s %s ['--tpu', 'x', 'y']" % (package, spec, file.replace("/", os.sep)),
            "%s True" % file.replace("/", os.sep),
            "True True tpudist.contrib.tensorflow",
        ]
        assert "era: contrib (tf.contrib at beside.py:2)" in err


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("nothing", "no module named nothing"),
        ("pack.nothing", "no module named pack.nothing"),
        ("pack", "a package without a module __main__"),
    ],
)
def test_a_module_that_is_not_there(run, name, words):
    code, out, err = run({"pack/__init__.py": ""}, "-m", name)
    assert (code, out) == (2, "") and words in err and "Traceback" not in err


def test_nothing_to_run(run):
    code, out, err = run({}, "--era", "contrib")
    assert code == 2 and "no script" in err


@pytest.mark.skipif(not keras_packages.legacy(), reason="Keras 2 is here as the package keras")
def test_a_library_finds_modules_that_keras_2_alone_has(run):
    library = """
        import tensorflow as tf
        from keras.src import layers
        from keras.src.engine import keras_tensor
        try:
            from keras.nowhere import nothing
        except ModuleNotFoundError as error:
            lacks = error.name
    """
    script = """
        import library
        print(library.keras_tensor.KerasTensor.__module__, library.layers.__name__, library.lacks,
              isinstance(library.tf.keras.Input([1]), library.keras_tensor.KerasTensor))
    """
    files = {"lib/library/__init__.py": library, "app/train.py": script}
    code, out, err = run(files, "app/train.py", path=["lib"])
    assert code == 0, err
    assert (
        out.split()
        == "tf_keras.src.engine.keras_tensor keras.src.layers keras.nowhere True".split()
    )
