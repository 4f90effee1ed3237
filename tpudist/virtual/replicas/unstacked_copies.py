"""Variables whose copies are rows, in segments that need the handle of each copy.

While such a segment runs, each copy is a variable of its own: it is given the row before,
and the row is given its value after.
"""

from tpudist.tfcompat import functions
from tpudist.virtual import vectorize
from tpudist.virtual.identity_map import IdentityMap
from tpudist.virtual.trace import effects
from tpudist.virtual.variables import raw_writes


class LentCopies:
    """The copies that the segments of one program are lent.

    Args:
      program: the traced `Program`.
    """

    def __init__(self, program):
        self._program = program
        self._rows = IdentityMap()
        self._written = None

    def lend(self, held, rows, positions):
        """Lends the copies of a variable.

        Args:
          held: the handle in the trace that stands for them.
          rows: the `stacked_copies.Rows`.
          positions: for each replica the number of its copy.

        Returns:
          The batched value of the handles.
        """
        self._rows[held] = rows
        lent = rows.lend_all()
        return vectorize.of_parts([lent[i].handle for i in positions], held)

    def load(self, tensors):
        """The ops that give what is lent the values of the rows.

        Args:
          tensors: the tensors of the trace that what comes takes.
        """
        return [op for rows in self._lent_to(tensors) for op in rows.load()]

    def take_back(self, tensors):
        """The ops that give the rows the values of what was lent and may have been written."""
        return [
            op
            for rows in self._lent_to(tensors)
            if id(rows.first.handle) in self._handles_written()
            for op in rows.take_back()
        ]

    def given_to(self, merge):
        """The handles, of the trace, that a `merge.Merge` is given of what may be lent."""
        used = merge.used() if self._rows else ()
        sources = [source for _, source, _ in used if functions.is_resource(source)]
        return list(map(effects.root, sources))

    def _lent_to(self, tensors):
        return [self._rows[tensor] for tensor in tensors if tensor in self._rows]

    def _handles_written(self):
        if self._written is None:
            ops = self._program.graph.get_operations()
            self._written = {id(handle) for op in ops for handle in raw_writes.written(op)}
            given = [held for merge in self._program.merges for held in self.given_to(merge)]
            self._written.update(id(functions.captured(held)) for held in given)
        return self._written
