"""The modules of the installed TensorFlow that a `Namespace` stands over."""

from __future__ import annotations

import types
from typing import TYPE_CHECKING

from tpudist.dropin import contrib_modules, exports, private_modules

if TYPE_CHECKING:
    from typing import Any

    from tpudist.dropin.namespace import Namespace


def of(space: Namespace) -> list[types.ModuleType]:
    """The modules of the installed TensorFlow that a Namespace stands over."""
    return [module for _, module in _stands_over(space)]


def _stands_over(space: Namespace) -> list[tuple[str, types.ModuleType]]:
    """Each module, after the generation of the API ("compat.v1" or "compat.v2") it is of."""
    if space._tpudist_bases is None:
        space._tpudist_bases = (
            _top_bases(space)
            if space._tpudist_parent is None
            else _child_bases(space, space._tpudist_parent)
        )
    return space._tpudist_bases


def _top_bases(space: Namespace) -> list[tuple[str, types.ModuleType]]:
    from tpudist.tfcompat import versions

    tf = exports.tensorflow()
    if space._tpudist_root:
        root = space._tpudist_root
        has = versions.HAS_COMPAT_V2 or root == "compat.v1"
        return [(root, getattr(tf.compat, root.rpartition(".")[2]) if has else tf)]
    if space._tpudist_era == "contrib":
        return [("compat.v1", tf.compat.v1), ("compat.v2", tf)]
    if not versions.HAS_COMPAT_V2:
        return [("compat.v2", tf)]
    both = [tf, tf.compat.v2] if versions.TF2 else [tf.compat.v2, tf]
    return [("compat.v2", module) for module in both]


def _child_bases(space: Namespace, parent: Namespace) -> list[tuple[str, types.ModuleType]]:
    modules = []
    for generation, base in _stands_over(parent):
        for module in _modules_below(generation, base, space._tpudist_path):
            if isinstance(module, types.ModuleType) and (generation, module) not in modules:
                modules.append((generation, module))
    if not modules:
        module = private_modules.import_or_none(real_name(space))
        homes = [module] if module is not None else contrib_modules.homes(space._tpudist_path)
        modules = [("", module) for module in homes]
    return modules


def _modules_below(generation: str, base: types.ModuleType, path: str) -> list[Any]:
    from tpudist.tfcompat import keras_packages

    if generation and keras_packages.leads_elsewhere(generation, path):
        return keras_packages.modules(generation, path, base)
    return [getattr(base, path.rpartition(".")[2], None)]


def has_keras_elsewhere(space: Namespace, path: str) -> bool:
    """Whether the era's Keras, which the installed TensorFlow does not have there, has a name."""
    from tpudist.tfcompat import keras_packages

    return any(
        generation and keras_packages.leads_elsewhere(generation, path)
        for generation, _ in _stands_over(space)
    )


def real_name(space: Namespace) -> str:
    """The dotted name of the module in TensorFlow."""
    parts = ("tensorflow", space._tpudist_root, space._tpudist_path)
    return ".".join(part for part in parts if part)
