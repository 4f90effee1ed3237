"""Random programs of all kinds on the virtual TPU and on MirroredStrategy.

    python -m tests.differential --programs 300 [--seed S] [--shares 1,3] [--release 1.15,2.15]

divides the programs among `SHARES`, runs each in a process, as many at a time as there are
CPUs, and exits with 1 and the smallest program that it found on which the two differ. With
``--shares`` only these run (the first is 1), so that a long run can be done in pieces. With
releases, each runs all of them, in the environment that ``tpudist matrix`` makes.
"""

import argparse
import collections
import concurrent.futures
import os
import random
import subprocess
import sys

from tests.differential.processes import run_driver

#: What runs a part of the programs.
Share = collections.namedtuple("Share", "mode replicas surface part")
SHARES = [
    Share("function", 2, "v2_2", 0.25),
    Share("function", 3, "v2_0", 0.15),
    Share("graph", 2, "v2_2", 0.2),
    Share("function", 4, "v2_0", 0.1),
    Share("function", 8, "v2_2", 0.06),
    Share("function", 7, "v2_0", 0.06),
    Share("graph", 3, "v2_2", 0.06),
    Share("graph", 2, "steps", 0.05),
    Share("function", 1, "v2_2", 0.05),
    Share("function", 32, "v2_2", 0.02),
]


def main(argv=None):
    """Returns 0 if all programs agree, 1 if not."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", type=int, default=300)
    parser.add_argument("--seed", type=int, help="default: drawn, and printed")
    every = ",".join(str(number + 1) for number in range(len(SHARES)))
    parser.add_argument("--shares", default=every, help="of %s; default: all" % every)
    parser.add_argument("--release", help="releases of TensorFlow, with commas between them")
    args = parser.parse_args(argv)
    seed = random.randrange(10**6) if args.seed is None else args.seed
    print("%d programs, seed %d" % (args.programs, seed), flush=True)
    if args.release:
        return _on_releases(args, seed)
    numbers = args.shares.split(",")
    if not set(numbers) <= set(every.split(",")):
        parser.error("--shares %s: they are %s" % (args.shares, every))
    shares = [SHARES[int(number) - 1] for number in numbers]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        codes = list(pool.map(lambda share: _run(share, args.programs, seed), shares))
    return int(any(codes))  # a process that a signal ended has a code below 0


def _run(share, programs, seed):
    done = run_driver(
        *["--mode", share.mode, "--replicas", str(share.replicas), "--surface", share.surface],
        *["--examples", str(max(1, round(share.part * programs))), "--seed", str(seed)],
        timeout=None,
    )
    errors = done.stderr[-4000:] if done.returncode else ""
    print("%s\n%s" % (done.stdout, errors), end="", flush=True)
    return done.returncode


def _on_releases(args, seed):
    command = ["--", "python", "-m", "tests.differential", "--shares", args.shares]
    command += ["--programs", str(args.programs), "--seed", str(seed)]
    matrix = [sys.executable, "-m", "tpudist", "matrix", "--releases", args.release]
    return subprocess.call(matrix + ["--project", ".[test]"] + command)


if __name__ == "__main__":
    sys.exit(main())
