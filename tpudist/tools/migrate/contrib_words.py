"""Which attributes may be names of ``tf.contrib``: the others are not followed to their owner."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from tpudist import surfaces

if TYPE_CHECKING:
    from tpudist.tools.migrate.resolution.module import Module


@functools.lru_cache(maxsize=None)
def every() -> frozenset[str]:
    """The words of the names and modules of contrib."""
    tables = (surfaces.GONE, surfaces.HOMES, surfaces.LEADS, surfaces.MOVED, surfaces.WRITTEN)
    found = {key.rpartition(".")[2] for table in tables for key in table}
    found.update(key.rpartition(".")[2] for key in surfaces.DROPINS["contrib"])
    for module, names in surfaces.contrib_modules().items():
        found.update(names, module.partition(".python.")[0].split("."))
    return frozenset(found)


def roots(module: Module) -> set[str]:
    """The words below which any name may be one of contrib: what is imported, or is global.

    Args:
      module: a `Module`.
    """
    return {"tf", "tensorflow", *(each.name for each in module.global_scope().bindings)}
