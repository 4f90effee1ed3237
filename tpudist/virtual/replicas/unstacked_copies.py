"""Unstacks copies of a variable for segments that need the handle of each copy.

While such a segment runs, each copy is a variable of its own: it gets the value of its row
before the segment, and the row gets its value after it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpudist.tfcompat import functions
from tpudist.virtual import vectorize
from tpudist.virtual.identity_map import IdentityMap
from tpudist.virtual.trace import effects
from tpudist.virtual.variables import raw_writes

if TYPE_CHECKING:
    from typing import Any, Sequence

    from tpudist.tfcompat.annotations import Tensor
    from tpudist.virtual.annotations import Merge, Program


class UnstackedCopies:
    """Manages the copies that are variables of their own in the segments of one program.

    Args:
      program: the traced `Program`.
    """

    def __init__(self, program: Program) -> None:
        self._program = program
        self._rows = IdentityMap()
        self._written: set[int] | None = None

    def unstack(self, placeholder: Any, rows: Any, positions: Any) -> Any:
        """Makes the copies of a variable variables of their own.

        Args:
          placeholder: the handle in the trace that stands for them.
          rows: the `stacked_copies.StackedCopies`.
          positions: for each replica the number of its copy.

        Returns:
          The batched value of the handles.
        """
        self._rows[placeholder] = rows
        unstacked = rows.unstack_all()
        return vectorize.from_replicas([unstacked[i].handle for i in positions], placeholder)

    def load(self, tensors: Sequence[Tensor]) -> list[Any]:
        """The ops that assign the values of the rows to unstacked copies.

        Args:
          tensors: the tensors of the trace that the next call takes.
        """
        return [op for rows in self._unstacked_for(tensors) for op in rows.load()]

    def restack(self, tensors: Sequence[Tensor]) -> list[Any]:
        """The ops that assign the rows the values of unstacked copies that may have changed."""
        return [
            op
            for rows in self._unstacked_for(tensors)
            if id(rows.first.handle) in self._handles_written()
            for op in rows.restack()
        ]

    def handles_in(self, merge: Merge) -> Any:
        """The handles of the trace that enter a `merge.Merge`, if any copies are unstacked."""
        used = merge.used() if self._rows else ()
        sources = [source for _, source, _ in used if functions.is_resource(source)]
        return list(map(effects.root, sources))

    def _unstacked_for(self, tensors: Sequence[Tensor]) -> list[Any]:
        return [self._rows[tensor] for tensor in tensors if tensor in self._rows]

    def _handles_written(self) -> Any:
        if self._written is None:
            ops = self._program.graph.get_operations()
            written = {id(handle) for op in ops for handle in raw_writes.written(op)}
            entering = [t for merge in self._program.merges for t in self.handles_in(merge)]
            written.update(id(functions.captured(tensor)) for tensor in entering)
            self._written = written
        return self._written
