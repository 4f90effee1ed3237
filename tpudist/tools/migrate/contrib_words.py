"""Which attributes may be names of ``tf.contrib``: the others are not followed to their owner."""

import functools

from tpudist import surfaces
from tpudist.tools.migrate.resolution.import_origins import imported


@functools.lru_cache(maxsize=None)
def every():
    """The words of the names and modules of contrib."""
    tables = (surfaces.GONE, surfaces.HOMES, surfaces.LEADS, surfaces.MOVED, surfaces.WRITTEN)
    found = {key.rpartition(".")[2] for table in tables for key in table}
    found.update(key.rpartition(".")[2] for key in surfaces.DROPINS["contrib"])
    for module, names in surfaces.contrib_modules().items():
        found.update(names, module.partition(".python.")[0].split("."))
    return frozenset(found)


def roots(module):
    """The words below which any name may be one of contrib: what is imported, or is global.

    Args:
      module: a `Module`.
    """
    found = {"tf", "tensorflow"}
    found.update(bound for node in module.nodes.imports for _, bound in imported(node))
    found.update(assignment.name for assignment in module.global_scope().assignments)
    return found
