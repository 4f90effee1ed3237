"""Lines that ``tpudist run`` leaves out: of the start, of deprecation, and its own frames."""

import os
import signal
import subprocess
import sys

import pytest

from tests import ROOT

SCRIPT = """
import sys
import tensorflow as tf
with tf.Session() as session:
    print(session.run(tf.contrib.layers.xavier_initializer and tf.constant(1)))
print("of the script", file=sys.stderr)
"""

#: It logs as TensorFlow does, beside something that it never logs, and is killed.
KILLED = """
import os
from tpudist.legacy import start_messages
with start_messages._filtered():
    os.write(2, b"WARNING: All log messages before absl::InitializeLog() is called\\n")
    os.write(2, b"I0000 port.cc:153] oneDNN custom operations are on. You may\\nfirst\\nlast words")
    os.abort()
"""


def run(*arguments, **variables):
    """Runs Python; what is set for all tests alike is what a user has not set."""
    environ = {name: value for name, value in os.environ.items() if name != "TF_CPP_MIN_LOG_LEVEL"}
    environ.update(PYTHONPATH=ROOT, PYTHONWARNINGS="ignore", **variables)
    return subprocess.run(
        [sys.executable] + list(arguments), env=environ, capture_output=True, text=True
    )


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "train.py"
    path.write_text(SCRIPT)
    return str(path)


@pytest.mark.parametrize(("options", "lines"), [([], 2), (["-q"], 1)])
def test_only_notes_and_the_scripts_own_lines_are_left(script, options, lines):
    pytest.importorskip("tensorflow", minversion="2.21", reason="what it logs differs by release")
    done = run("-m", "tpudist", "run", *options, script)
    assert (done.returncode, done.stdout) == (0, "1\n")
    said = done.stderr.splitlines()
    assert [line[:13] for line in said] == ["era: contrib ", "of the script"][-lines:]


@pytest.mark.parametrize(
    ("options", "variables"), [(["-v"], {}), ([], {"TF_CPP_MIN_LOG_LEVEL": "0"})]
)
def test_who_wants_them_gets_them(script, options, variables):
    pytest.importorskip("tensorflow", minversion="2.21", reason="what it logs differs by release")
    done = run("-m", "tpudist", "run", *options, script, **variables)
    assert "absl::InitializeLog" in done.stderr and "of the script" in done.stderr


def test_a_program_of_tensorflow_2_starts_on_every_release(tmp_path):
    script = tmp_path / "train.py"
    script.write_text("import tensorflow as tf\nprint(tf.executing_eagerly())\n")
    done = run("-m", "tpudist", "run", "--era", "2.2", str(script))
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr


#: Each of its lines is deprecated on some release; two lines of its own are not.
DEPRECATED = """
import sys
import tensorflow as tf
from absl import app

def main(unused_arguments):
    labels = tf.contrib.layers.xavier_initializer and tf.ones([2, 2])
    tf.nn.softmax_cross_entropy_with_logits(logits=labels, labels=labels)
    tf.data.Dataset.range(4).make_one_shot_iterator().get_next()
    tf.logging.warning("of the program")
    tf.logging.warning("From here: its own is deprecated")
    print("of the script", file=sys.stderr)

app.run(main)
"""


@pytest.mark.parametrize(("options", "are_shown"), [([], False), (["-v"], True)])
def test_notices_of_deprecation_are_left_out_and_the_rest_is_shown_once(
    tmp_path, options, are_shown
):
    script = tmp_path / "train.py"
    script.write_text(DEPRECATED)
    done = run("-m", "tpudist", "run", *options, str(script), TF_CPP_MIN_LOG_LEVEL="3")
    assert done.returncode == 0, done.stderr
    assert "WARNING:tensorflow:From here: its own is deprecated" in done.stderr
    assert (done.stderr.count("deprecated") > 1) == are_shown
    assert done.stderr.splitlines()[-1] == "of the script"
    assert done.stderr.count("WARNING:tensorflow:of the program") == 1
    assert are_shown or done.stderr.count("of the program") == 1
    assert are_shown or "absl::InitializeLog" not in done.stderr


def test_last_words_come_through():
    done = run("-c", KILLED)
    assert done.returncode == -signal.SIGABRT
    assert done.stderr == "first\nlast words"


@pytest.mark.parametrize(("options", "is_short"), [([], True), (["-v"], False)])
def test_an_error_that_says_what_to_type_shows_the_programs_frames(tmp_path, options, is_short):
    script = tmp_path / "train.py"
    script.write_text(
        "import tensorflow as tf\ntf.contrib.cluster_resolver.TPUClusterResolver('virtual:7x')\n"
    )
    done = run("-m", "tpudist", "run", *options, "--era", "contrib", str(script))
    assert done.returncode == 1 and "Instead: " in done.stderr
    frames = [line for line in done.stderr.splitlines() if line.startswith('  File "')]
    assert any(str(script) in frame for frame in frames)
    assert (len(frames) == 1) == is_short
