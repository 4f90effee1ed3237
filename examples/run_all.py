"""Trains the net in every era and compares: all must end with the same numbers.

    python examples/run_all.py [--tpu virtual:8] [--epochs 20]

Runs `plain.py` (TensorFlow alone, one device) and then, on 8 cores, the same
net as code of the contrib era, of 2.0 and of 2.2, each in a process of its own.
The exit code is 0 if every one reaches 95 % test accuracy and the loss of
`plain.py` to one part in 1000.
"""

import argparse
import collections
import os
import re
import subprocess
import sys
import time

EXAMPLES = ("contrib_steps", "contrib_towers", "tpu_estimator", "v2_0", "v2_2", "logical_devices")
TOLERANCE = 1e-3  # relative difference of the final losses
ACCURACY = 0.95  # of the test images

_FOLDER = os.path.dirname(os.path.abspath(__file__))
_LAST = re.compile(r"^final loss=(\S+) accuracy=(\S+)$", re.MULTILINE)

Result = collections.namedtuple("Result", "loss accuracy seconds")


def run(name, *arguments):
    """Runs one example.

    Args:
      name: its file's name without ``.py``.
      *arguments: its command line.

    Returns:
      A `Result`; None if it failed (its error is on standard error).
    """
    print("\n%s" % name, file=sys.stderr)
    environ = dict({"TF_CPP_MIN_LOG_LEVEL": "3"}, **os.environ)
    start = time.time()
    done = subprocess.run(
        [sys.executable, "-W", "ignore", os.path.join(_FOLDER, name + ".py")] + list(arguments),
        stdout=subprocess.PIPE,
        text=True,
        env=environ,
    )
    found = _LAST.search(done.stdout)
    if done.returncode or not found:
        return None
    return Result(float(found.group(1)), float(found.group(2)), time.time() - start)


def verdict(result, plain):
    """``"ok"``, or what is wrong with a result; `plain` is the one to reach."""
    if result is None or plain is None:
        return "FAILED"
    if result.accuracy < ACCURACY:
        return "FAILED: accuracy below %.2f" % ACCURACY
    if not abs(result.loss - plain.loss) <= TOLERANCE * plain.loss:
        return "FAILED: not the loss of plain.py"
    return "ok"


def show(name, result, text):
    """Prints one line of the table."""
    numbers = "%11.7f %9.4f %8.1f" % result if result else "%11s %9s %8s" % ("-", "-", "-")
    print("%-16s %s  %s" % (name, numbers, text))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tpu", default="virtual:8")
    parser.add_argument("--epochs")
    options = parser.parse_args()
    epochs = ["--epochs", options.epochs] if options.epochs else []

    plain = run("plain", *epochs)
    results = [(name, run(name, "--tpu", options.tpu, *epochs)) for name in EXAMPLES]
    verdicts = [verdict(plain, plain)] + [verdict(r, plain) for _, r in results]
    print("\n%-16s %11s %9s %8s" % ("example", "loss", "accuracy", "seconds"))
    for (name, result), text in zip([("plain", plain)] + results, verdicts):
        show(name, result, text)
    return 0 if set(verdicts) == {"ok"} else 1


if __name__ == "__main__":
    sys.exit(main())
