"""The checkers of the extra ``types`` need Python 3.10; below it there is nothing to run."""

import sys

collect_ignore_glob = [] if sys.version_info >= (3, 10) else ["test_*.py"]
