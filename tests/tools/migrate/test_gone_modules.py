"""Modules of TensorFlow's own code that are gone: the recorded ones, and those of 1.15's list."""

import importlib.machinery
import os

import pytest

pytest.importorskip("tensorflow", minversion="2.16", reason="what the newest releases have")

import tensorflow as tf

from tests.tools.migrate import harness, test_written_imports
from tpudist import surfaces
from tpudist.surfaces import leads
from tpudist.tools.migrate import relocation


def there(dotted):
    """Whether the installed TensorFlow has a module; nothing is imported."""
    folder = os.path.join(os.path.dirname(tf.__file__), *dotted.split("."))
    endings = importlib.machinery.all_suffixes()
    return any(os.path.isfile(folder + each) for each in endings) or any(
        name.endswith(".py") for _, _, names in os.walk(folder) for name in names
    )


def test_a_module_that_is_gone_is_not_there():
    assert [each for each in sorted(surfaces.GONE_MODULES) if there(each)] == []


def test_names_below_a_module_that_is_gone_are_told_by_it():
    names = {module + ".x": module for module in surfaces.GONE_MODULES}
    assert {name: leads.gone_module(name) for name in names} == names
    assert [name for name in names if not leads.instead_of_module(name)] == []


def test_own_code_of_1_15_is_there_or_told():
    own = [
        full.partition(".")[2]
        for full in test_written_imports.modules()
        if relocation.is_own_code(full.partition(".")[2])
    ]
    silent = [
        each
        for each in own
        if not there(each) and not leads.gone_module(each) and not leads.gone_prefix(each)
    ]
    assert len(own) > 10 and not silent


def test_each_import_below_a_module_that_is_gone_is_told(tmp_path):
    text = "from tensorflow.python.estimator import estimator, model_fn\n"
    text += "from tensorflow.python.estimator.export import export_output\n"
    text += "from tensorflow.python.estimator import estimator as again\n"
    harness.put(tmp_path, {"a.py": text})
    left = harness.results(tmp_path, "latest")["a.py"].left
    assert [(use.line, use.seen.rpartition(".")[2]) for use in left] == [
        (1, "estimator"),
        (1, "model_fn"),
        (2, "export_output"),
        (3, "estimator"),
    ]


def test_imports_of_packages_that_ended_with_an_older_tensorflow_are_told(tmp_path):
    texts = {
        "alone.py": "import tensorflow_addons as tfa\n\noptimizer = tfa.optimizers.LAMB()\n",
        "beside.py": "import tensorflow as tf\nfrom tensorflow_addons.image import rotate\n",
        "guarded.py": "try:\n    import tensorflow_addons\nexcept ImportError:\n    pass\n",
        "others.py": "import tensorflow_addons_of_ours\nimport tensorflow_hub as hub\n",
    }
    harness.put(tmp_path, texts)
    results = harness.results(tmp_path, "latest")
    left = {path: [use.line for use in found.left] for path, found in results.items()}
    assert {path: lines for path, lines in left.items() if lines} == {
        "alone.py": [1],
        "beside.py": [2],
    }
    assert "TensorFlow 2.15" in results["alone.py"].left[0].why
