"""What compiling for a TPU takes. One program, one process; the last line is JSON.

    python -m tests.benchmarks.compiling MODEL REPLICAS BATCH TOPOLOGY FAST

MODEL is a name of `tests.benchmarks.compiled_models`, BATCH of one replica, FAST
is 0 or 1.
"""

import json
import resource
import sys
import time

from tests.benchmarks.compiled_models import MODELS
from tpudist.tools.compile.compiler import compilation


def cpu_seconds():
    """Of this process and of the compiler's."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def main(model, replicas, batch, topology, fast):
    """Prints what one compilation took, without TensorFlow's import and the model's making."""
    lower = MODELS[model](int(replicas), int(batch))
    start, used = time.perf_counter(), cpu_seconds()
    program = lower()
    found = compilation.compile_program(program, topology, fast=bool(int(fast)))
    assert found.ok, found.failure
    print(
        json.dumps(
            {
                "seconds": time.perf_counter() - start,
                "cpu": cpu_seconds() - used,
                "peak": found.effort.peak_bytes,
                "host": 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
            }
        )
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
