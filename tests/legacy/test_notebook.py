"""``%load_ext tpudist`` in a kernel of its own: cells are of an era, and of none again."""

import os
import re

import pytest

TOWERS = """
import tensorflow as tf
strategy = tf.contrib.distribute.TPUStrategy(tf.contrib.cluster_resolver.TPUClusterResolver())
with strategy.scope(), tf.Session() as session:
    numbers = strategy.call_for_each_tower(lambda: tf.constant(1.0))
    print("sum:", session.run(strategy.reduce(tf.VariableAggregation.SUM, numbers, "/cpu:0")))
"""
REPLICAS = """
import tensorflow as tf
resolver = tf.distribute.cluster_resolver.TPUClusterResolver()
strategy = tf.distribute.experimental.TPUStrategy(resolver)
print(strategy.num_replicas_in_sync, tf.executing_eagerly())
print(strategy.__class__.__module__.split(".")[1])
"""
PLAIN = """
import tensorflow
print(tensorflow.__name__, tensorflow.executing_eagerly(), hasattr(tensorflow, "contrib"))
"""

#: What is said where the installed Keras is not that of the eras.
_KERAS_3 = re.compile(r"^keras: .* is Keras 3 here.*\n", re.M)


@pytest.fixture(scope="module")
def notebook(tmp_path_factory):
    """A kernel in an empty folder; gives `outputs` and `completed`."""
    pytest.importorskip("tensorflow", minversion="2.2", reason="cells are of three eras in turn")
    pytest.importorskip("ipykernel", reason='pip install ".[test-notebooks]" brings it')
    nbclient = pytest.importorskip("nbclient", reason='pip install ".[test-notebooks]" brings it')
    nbformat = pytest.importorskip("nbformat")
    folder = tmp_path_factory.mktemp("notebook")
    (folder / "helper.py").write_text("import tensorflow as tf\nnames = dir(tf)\n")
    book = nbformat.v4.new_notebook()
    client = nbclient.NotebookClient(
        book, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(folder)}}
    )
    environ = {name: value for name, value in os.environ.items() if name != "TF_CPP_MIN_LOG_LEVEL"}
    with client.setup_kernel(env=environ):
        yield Notebook(client, nbformat.v4.new_code_cell)


class Notebook:
    def __init__(self, client, new_cell):
        self._client, self._new_cell = client, new_cell

    def run(self, source):
        """(what a cell prints, the name of its error or None)."""
        cell = self._new_cell(source)
        self._client.nb.cells.append(cell)
        error = None
        try:
            self._client.execute_cell(cell, len(self._client.nb.cells) - 1)
        except Exception as raised:  # noqa: BLE001
            error = getattr(raised, "evalue", None) or str(raised)
        text = "".join(each.get("text", "") for each in cell.outputs)
        return _KERAS_3.sub("", text), error

    def completed(self, code):
        """What the kernel proposes at the end of some code."""
        from jupyter_core.utils import run_sync

        asked = self._client.kc.complete(code)
        while True:
            reply = run_sync(self._client.kc.get_shell_msg)(timeout=60)
            if reply["parent_header"].get("msg_id") == asked:
                return reply["content"]["matches"]


@pytest.mark.slow
def test_cells_are_of_the_era_that_is_asked_for(notebook):
    assert notebook.run("%load_ext tpudist") == ("", None)
    assert notebook.run("%tpudist --era contrib --tpu virtual:8") == ("", None)
    assert notebook.run(TOWERS) == ("sum: 8.0\n", None)
    assert notebook.run("import helper; print('Session' in helper.names)") == ("True\n", None)
    assert "TPUStrategy" in " ".join(notebook.completed("tf.contrib.distribute.TPU"))
    assert {"contrib", "2.0", "2.2"} <= set(notebook.completed("%tpudist --era "))
    assert "--tpu" in notebook.completed("%tpudist --t")
    assert notebook.run("%tpudist --era 2.0 --tpu virtual:4") == ("", None)
    assert notebook.run(REPLICAS) == ("4 True\nv2_0\n", None)
    assert notebook.run("%tpudist --era 2.2 --tpu virtual:2")[1] is None
    assert notebook.run(REPLICAS) == ("2 True\nv2_2\n", None)


@pytest.mark.slow
def test_off_undoes_it_and_wrong_options_are_told(notebook):
    notebook.run("%load_ext tpudist")
    notebook.run("%tpudist --era contrib --tpu virtual:8")
    assert notebook.run("%tpudist --off") == ("", None)
    assert notebook.run(PLAIN) == ("tensorflow True False\n", None)
    said, error = notebook.run("%tensorflow_version 2.x")
    assert said == "%tensorflow_version 2.x: it is the installed one, see %tpudist --era\n"
    said, _ = notebook.run("tf = tensorflow\n%tpudist --era contrib")
    assert "tf is TensorFlow of before %tpudist: import it again" in said
    assert "Instead: %tpudist --era contrib" in str(notebook.run("%tpudist --tpu virtual:8"))
    assert "invalid choice: '1.9'" in str(notebook.run("%tpudist --era 1.9"))
    assert notebook.run("%unload_ext tpudist") == ("", None)
    assert "tpudist` not found" in str(notebook.run("%tpudist --off"))
