"""Variables whose copies are rows, in segments that need the handle of each copy.

While such a segment runs, each copy is a variable of its own: it is given the row before,
and the row is given its value after.
"""

from tpudist.virtual import batched_values, raw_writes
from tpudist.virtual.identity_map import IdentityMap


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
          rows: the `variable_rows.Rows`.
          positions: for each replica the number of its copy.

        Returns:
          The batched value of the handles.
        """
        self._rows[held] = rows
        lent = rows.lend_all()
        return batched_values.of_parts([lent[i].handle for i in positions], held)

    def load(self, segment):
        """The ops that give what is lent to `segment` the values of the rows."""
        return [op for rows in self._lent_to(segment) for op in rows.load()]

    def take_back(self, segment):
        """The ops that give the rows the values of what was lent to `segment` and written."""
        return [
            op
            for rows in self._lent_to(segment)
            if id(rows.first.handle) in self._handles_written()
            for op in rows.take_back()
        ]

    def _lent_to(self, segment):
        inputs = segment.inputs if segment else ()
        return [self._rows[tensor] for tensor in inputs if tensor in self._rows]

    def _handles_written(self):
        if self._written is None:
            ops = self._program.graph.get_operations()
            self._written = {id(handle) for op in ops for handle in raw_writes.written(op)}
        return self._written
