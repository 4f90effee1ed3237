"""``python -m tpudist.tools.launch.worker``: a worker, which ends when its launcher is gone.

The first line of its standard input is a JSON object of environment variables, which therefore
stand on no command line. Nothing comes after it: the input ends when the launcher, or the
connection by ssh, does.
"""

from __future__ import annotations

import json
import os
import runpy
import signal
import threading
import time

#: Seconds that the program has to end by itself once its launcher is gone.
_PATIENCE = 10.0


def main() -> None:
    """Runs ``tpudist`` with the arguments of this process, and ends with its exit code."""
    os.environ.update(json.loads(_first_line(0) or "{}"))
    launcher = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)  # what the program itself reads
    os.close(nothing)
    threading.Thread(target=_end_with, args=(launcher,), daemon=True).start()
    runpy.run_module("tpudist", run_name="__main__", alter_sys=True)


def _first_line(file: int) -> str:
    line = b""
    while not line.endswith(b"\n"):
        byte = os.read(file, 1)
        if not byte:
            break
        line += byte
    return line.decode("utf-8")


def _end_with(launcher: int) -> None:
    """Ends this process once the other end of a pipe is closed."""
    while os.read(launcher, 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(_PATIENCE)
    os._exit(128 + signal.SIGTERM)


if __name__ == "__main__":
    main()
