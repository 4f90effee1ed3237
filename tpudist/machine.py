"""Names that a machine fixes: variables, folders of packages, TensorFlow's wheels.

Each is written down here only. No TensorFlow, and no import of the rest.
"""

from __future__ import annotations

import os

#: Environment variable that overrides whatever TPU name a script passes.
TPU = "TPUDIST_TPU"

#: Folders of installed packages: what is below one is nobody's own code.
INSTALLED = ("site-packages", "dist-packages")

#: Wheels that ``tensorflow`` itself asks for on some machine.
PARTS_OF_TENSORFLOW = ("tensorflow-intel", "tensorflow-macos", "tensorflow-cpu-aws")

#: The wheels that put a package ``tensorflow`` into site-packages. Two of them
#: overwrite each other, unless one is a part of the other.
TENSORFLOWS = (
    "tensorflow",
    "tensorflow-cpu",
    "tensorflow-gpu",
    "tensorflow-tpu",
    *PARTS_OF_TENSORFLOW,
    "intel-tensorflow",
    "tf-nightly",
    "tf-nightly-cpu",
    "tf-nightly-gpu",
    "tf-nightly-tpu",
)


def is_installed(path: str) -> bool:
    """Whether a path goes through a folder of installed packages."""
    return not set(INSTALLED).isdisjoint(path.split(os.sep))
