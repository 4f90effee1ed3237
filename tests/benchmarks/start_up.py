"""Seconds that a piece of code takes in a process without TensorFlow.

    python -m tests.benchmarks.start_up CODE
"""

import contextlib
import io
import json
import sys
import time

if __name__ == "__main__":
    start = time.perf_counter()
    with contextlib.redirect_stdout(io.StringIO()):
        exec(sys.argv[1])
    seconds = time.perf_counter() - start
    assert "tensorflow" not in sys.modules
    print(json.dumps({"seconds": seconds}))
