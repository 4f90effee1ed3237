"""Saves stacked copies of a variable in a SavedModel, for the functions that use them.

TensorFlow saves the value of the first copy; in what is loaded all copies begin with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import tensorflow as tf

from tpudist.tfcompat import stored_parts, versions

if TYPE_CHECKING:
    from typing import Any

    from tpudist.virtual.variables.stacked_copies import StackedCopies

if versions.VARIABLES_EXPORT_THEMSELVES:
    _Resource: Any = tf.saved_model.experimental.TrackableResource
else:
    _Resource = object


class SavedRows(_Resource):
    """Makes the other rows anew where a SavedModel is loaded.

    Args:
      rows: the `stacked_copies.StackedCopies`.
    """

    def __init__(self, rows: StackedCopies) -> None:
        super().__init__()
        self._rows = rows
        self._resource_handle = rows.others.handle

    def _create_resource(self) -> Any:
        others = self._rows.others
        name = stored_parts.anonymous_name()
        return tf.raw_ops.VarHandleOp(dtype=others.dtype, shape=others.shape, shared_name=name)

    def _initialize(self) -> None:
        tf.raw_ops.AssignVariableOp(resource=self.resource_handle, value=self._rows.alike())
