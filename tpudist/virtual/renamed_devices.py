"""Maps the device names of cores and hosts to the one real device.

Legacy code pins ops to cores and hosts of a TPU; those of the virtual TPU exist in name only.
"""

from __future__ import annotations

import contextlib
import re
from typing import TYPE_CHECKING

import tensorflow as tf

from tpudist.tfcompat import placed_graphs

if TYPE_CHECKING:
    from typing import Any, Iterator

    from tpudist.tfcompat.annotations import Operation


_OTHER_TASK = re.compile(r"/task:[1-9]")


class RenamedDevices:
    """Places ops on the real device, whatever core or host they are pinned to.

    Args:
      device: the device that all cores compute on.
      host: the device that stands for all hosts.
    """

    def __init__(self, device: Any, host: Any) -> None:
        self._device = device
        self._host = host
        self._renamed: dict[Any, Any] = {}

    @contextlib.contextmanager
    def place(self) -> Iterator[Any]:
        """Places ops on the real device, whatever replica label is current.

        Inside a graph only the graph's device stack changes: the eager
        context keeps the replica's label, by which old releases cache nested
        functions.
        """
        graph = None if tf.executing_eagerly() else tf.compat.v1.get_default_graph()
        if graph is None:
            with tf.device(self._device):
                yield
        elif placed_graphs.innermost_device(graph) == self._place_op:
            yield
        else:
            with graph.device(self._place_op):
                yield

    def _place_op(self, op: Operation) -> Any:
        return self.rename(op) or self._device

    def rename(self, op: Operation) -> Any:
        """The real device of an op that is pinned to a core or a host.

        A device function (see ``tf.Graph.device``).
        """
        name = op.device
        if name not in self._renamed:
            self._renamed[name] = self._real(name)
        return self._renamed[name]

    def _real(self, name: str) -> Any:
        if "device:TPU:" in name:
            return self._device
        return self._host if _OTHER_TASK.search(name) else name
