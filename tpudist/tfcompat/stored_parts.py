"""Which part of a distributed variable is being updated, giving it other parts, and the whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorflow.python.distribute import distribute_lib
from tensorflow.python.eager import context

from tpudist.tfcompat import distributed, functions, nests, versions

if TYPE_CHECKING:
    from typing import Any, Sequence

#: The methods by which a variable is assigned.
ASSIGNMENTS: tuple[str, ...] = ("assign", "assign_add", "assign_sub", "load", "count_up_to")
ASSIGNMENTS += ("_strided_slice_assign", "batch_scatter_update")
ASSIGNMENTS += tuple("scatter_" + how for how in "add sub update min max mul div".split())
ASSIGNMENTS += tuple("scatter_nd_" + how for how in "add sub update min max".split())


def anonymous_name() -> str:
    """The name of a resource that is another each time that it is made (2.12 and newer)."""
    name: str = context.anonymous_name()
    return name


def replica_name(variable: Any, replica_id: int) -> str:
    """The name of a replica's own copy of `variable`, as a name scope that is used as it is."""
    return "%s/replica_%d/" % (variable.name.split(":")[0], replica_id)


def replace(value: Any, components: Sequence[Any]) -> None:
    """Gives a distributed value other components, one per replica."""
    if not versions.BY_DEVICE or versions.DEVICE_MAP:
        value._values = components
    else:
        value._index = dict(zip(value._index, components))


def is_updating() -> bool:
    """Whether an update function is running, in which a variable is one of its components."""
    if versions.BY_DEVICE:
        return distribute_lib.get_update_device() is not None
    return distribute_lib.get_update_replica_id() is not None


def updated_replica() -> Any:
    """The replica id of the component that is being updated (2.2 and newer)."""
    return distribute_lib.get_update_replica_id()


def wholes(replica: Any, structure: Any) -> Any:
    """A replica's `structure`, with distributed variables in place of the replica's parts.

    1.13 puts parts together again only if each is on its replica's device.
    """
    if not versions.BY_DEVICE or versions.DEVICE_MAP:
        return structure
    replica_id = functions.static_value(replica._replica_id_in_sync_group)

    def whole(leaf: Any) -> Any:
        container: Any = getattr(leaf, "_distributed_container", tuple)()
        if not distributed.is_variable(container):
            return leaf
        return container if distributed.components(container)[replica_id] is leaf else leaf

    return nests.map_structure(whole, structure)
