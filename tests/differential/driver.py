"""Runs random programs on both engines, in a process of its own.

    python -m tests.differential.driver --mode function --examples 1000
    python -m tests.differential.driver --mode graph --program "{...}"

Exits with 1 and prints the smallest program it found on which the engines
differ.
"""

import argparse
import ast
import collections
import sys
import time
import traceback

import hypothesis
import tensorflow as tf

from tests.differential import differences, engines, programs


class Disagreement(AssertionError):
    """The engines did different things."""


class Comparison:
    """Compares programs; counts the differences that are meant.

    Args:
      mode: "function" or "graph".
      count: number of replicas.
      surface: of `engines.SURFACES`.
    """

    def __init__(self, mode, count, surface="v2_2"):
        self._mode, self._count = mode, count
        self._virtual = engines.SURFACES[surface]
        self.compared, self.excused = 0, collections.Counter()
        self.ended = collections.Counter()

    def check(self, program):
        """Raises Disagreement unless both engines do the same."""
        expected, actual = (
            engines.execute(engine, program, self._mode, self._count)
            for engine in (engines.oracle, self._virtual)
        )
        self.compared += 1
        self.ended[repr(expected.error)[:80]] += 1
        found = engines.difference_in_steps(expected, actual)
        if found is None:
            found = engines.difference_in_ends(expected, actual)
            reason = found and differences.excuse(expected, actual)
            if reason:
                self.excused[reason] += 1
            if reason or found is None:
                return
        raise Disagreement("%s\n%s\nprogram: %r" % (found, _traces(expected, actual), program))


def _traces(*outcomes):
    return "\n".join(
        "".join(
            traceback.format_exception(
                type(outcome.error), outcome.error, outcome.error.__traceback__
            )
        )
        for outcome in outcomes
        if outcome.error is not None
    )


def search(comparison, mode, examples, seed):
    """Compares random programs; raises on the smallest that differs."""

    @hypothesis.settings(
        max_examples=examples,
        deadline=None,
        database=None,
        derandomize=seed is None,
        report_multiple_bugs=False,
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.given(programs.programs(mode))
    def run(program):
        comparison.check(program)

    if seed is not None:
        run = hypothesis.seed(seed)(run)
    run()


def main(argv=None):
    """Returns 0 if all programs agree, 1 if not."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mode", choices=("function", "graph"), default="function")
    parser.add_argument("--replicas", type=int, default=2)
    parser.add_argument("--surface", choices=sorted(engines.SURFACES), default="v2_2")
    parser.add_argument("--examples", type=int, default=30)
    parser.add_argument("--seed", type=int, help="default: always the same")
    parser.add_argument("--program", help="compare only this one")
    parser.add_argument("--without", help="leave out this pass of TensorFlow's optimizer")
    args = parser.parse_args(argv)
    print(
        "TensorFlow %s, %s mode, %d replicas, %s, %d examples, seed %s"
        % (tf.version.VERSION, args.mode, args.replicas, args.surface, args.examples, args.seed)
    )
    engines.start(args.mode, args.replicas, args.without)
    comparison = Comparison(args.mode, args.replicas, args.surface)
    started = time.time()
    try:
        if args.program:
            comparison.check(ast.literal_eval(args.program))
        else:
            search(comparison, args.mode, args.examples, args.seed)
    except Disagreement as error:
        print(error)
        print(
            "whether a pass of TensorFlow's optimizer makes the difference: python -m "
            "tests.differential.passes --mode %s --replicas %d --surface %s --program PROGRAM"
            % (args.mode, args.replicas, args.surface)
        )
        return 1
    print(
        "%d programs agree, %d of them up to %s; %.0f s"
        % (
            comparison.compared,
            sum(comparison.excused.values()),
            dict(comparison.excused),
            time.time() - started,
        )
    )
    for error, times in comparison.ended.most_common(12):
        print("%6d ended by %s" % (times, error))
    return 0


if __name__ == "__main__":
    sys.exit(main())
