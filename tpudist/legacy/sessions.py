"""Sessions that TensorFlow makes itself list a virtual TPU's cores, as on a host with a TPU."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any, Iterator


@contextlib.contextmanager
def listing_cores() -> Iterator[None]:
    """Context manager: ``list_devices`` of every Session has the cores of the virtual TPU.

    Those of ``tf.test.TestCase`` and of TensorFlow's own classes are not the drop-in's.
    """
    from tpudist.core.system import workers
    from tpudist.tfcompat import tpu

    native = tpu.BaseSession.list_devices

    def list_devices(self: Any) -> list[Any]:
        return workers.with_cores(native(self), workers.virtual())

    tpu.BaseSession.list_devices = list_devices
    try:
        yield
    finally:
        tpu.BaseSession.list_devices = native
