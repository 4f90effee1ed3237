"""Leaves out what TensorFlow prints when it starts and nobody can act on.

The C++ code of TensorFlow logs to the process's standard error before Python can say what it
shall log: TF_CPP_MIN_LOG_LEVEL has no effect on these lines (2.13 and newer), and Python's
``sys.stderr`` does not see them.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from typing import Iterator

from tpudist import console

#: TensorFlow's variable: what it logs.
LEVEL = "TF_CPP_MIN_LOG_LEVEL"

#: Lines of the start that say nothing of the program. Each was seen on some release.
_NOISE = "|".join(
    (
        r"WARNING: All log messages before absl::InitializeLog\(\) is called",
        r"oneDNN custom operations are on",
        r"Could not find (cuda drivers|TensorRT)",
        r"Could not load dynamic library '(lib)?(cu|nv)\w+",
        r"Ignore above cudart dlerror|Cannot dlopen some (GPU|TensorRT) libraries",
        r"Unable to register cu\w+ factory",
        r"computation placer already registered",
        r"failed call to cuInit|kernel driver does not appear to be running",
        r"cuda_diagnostics\.cc|cpu_feature_guard\.cc",
        r"To enable the following instructions: .* rebuild TensorFlow",
        r"FutureWarning: Passing \(type, 1\)|^\s*_?np_\w+ = np\.dtype\(",
    )
)

#: A program that copies lines to standard error, but for those that its argument is found in.
_FILTER = """
import re, signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
noise = re.compile(sys.argv[1].encode())
for line in sys.stdin.buffer:
    if not noise.search(line):
        sys.stderr.buffer.write(line)
        sys.stderr.buffer.flush()
"""


def start() -> None:
    """Imports TensorFlow without its usual messages; all others come through at once.

    If the user has set TF_CPP_MIN_LOG_LEVEL to 0, or wants a verbose command, nothing is left out.

    Raises:
      MissingTensorFlowError: there is no TensorFlow.
    """
    is_silent = os.environ.get(LEVEL) != "0" and not console.is_verbose()
    with contextlib.ExitStack() as undo:
        if is_silent:
            os.environ.setdefault(LEVEL, "1")  # no INFO; read when something is logged first
            if sys.executable and "tensorflow" not in sys.modules:
                undo.enter_context(_filtered())
        from tpudist.tfcompat import versions

        # TensorFlow 1 cannot turn eager execution on any more once it has looked.
        if is_silent and versions.TF2 and not os.path.exists("/dev/nvidiactl"):
            from tpudist.tfcompat import devices

            devices.gpus()  # what a GPU's TensorFlow logs where there is none, it logs once: now


@contextlib.contextmanager
def _filtered() -> Iterator[None]:
    """Puts a process between standard error and whoever reads it.

    A process, because it goes on where this one is killed: by TensorFlow's own last words, too.
    """
    sys.stderr.flush()
    kept = os.dup(2)
    command = [sys.executable, "-I", "-S", "-c", _FILTER, _NOISE]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as filtering:
        assert filtering.stdin
        os.dup2(filtering.stdin.fileno(), 2)
        try:
            yield
        finally:
            sys.stderr.flush()
            os.dup2(kept, 2)
            os.close(kept)
