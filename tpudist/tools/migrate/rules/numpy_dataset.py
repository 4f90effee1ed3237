"""``experimental_make_numpy_dataset`` is ``Dataset.from_tensor_slices``; gone from 2.4."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tpudist.tools.migrate.use import Use

STEP = "latest"
NOTE = "https://github.com/tensorflow/tensorflow/releases/tag/v2.4.0"
USES = [("strategy", "experimental_make_numpy_dataset")]

_NEW = "data.Dataset.from_tensor_slices"


def apply(use: Use) -> None:
    """Rewrites a call with one argument.

    Args:
      use: the `Use`.
    """
    if use.call is None or len(use.arguments) != 1 or use.has_stars:
        use.leave("its one argument cannot be read here", "tf.%s(arrays)" % _NEW)
        return
    use.make_positional(use.arguments[0])
    use.replace(use.node, use.spelled(_NEW))
    use.note("tf." + _NEW)
