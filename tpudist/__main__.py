"""``python -m tpudist``."""

import sys

from tpudist.cli import main

if __name__ == "__main__":
    sys.exit(main())
