"""Breaks each batching rule, each merge and each update path in turn; tests must notice.

    python -m tests.mutation [rules] [sizes] [paths] [OP_TYPE ...]

breaks all, or the rules of the named op types; prints what nobody noticed, and killed /
total; exits with 1 if anything survived.
"""

import contextlib
import io
import sys
import warnings


def main(argv):
    """Returns 0 if every mutant is noticed."""
    from tests.helpers import v2_behavior  # noqa: F401 (it switches)
    from tests.mutation import paths, rules, unknown_sizes

    warnings.simplefilter("ignore")
    only = [name for name in argv if name not in ("rules", "sizes", "paths")]
    kinds = [name for name in argv if name not in only] or ["rules", "sizes", "paths"]
    survived, total = [], 0
    for kind, module in (("rules", rules.Rules), ("sizes", unknown_sizes.UnknownSizes)):
        known = module(only) if kind in kinds else None
        for mutant in known.mutants() if known else ():
            total += 1
            if mutant.how == "never reached" or not known.is_noticed(mutant):
                survived.append("%s: %s" % mutant)
                print("survived:", survived[-1], flush=True)
    if "paths" in kinds:
        for mutant in paths.MUTANTS:
            total += 1
            with contextlib.redirect_stdout(io.StringIO()):
                noticed = paths.is_noticed(mutant)
            if not noticed:
                survived.append(mutant.name)
                print("survived:", survived[-1], flush=True)
    print("killed %d of %d" % (total - len(survived), total))
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
