"""The rules, one a file; each implements one release note.

A rule module has:

    STEP    the step that needs it: "2.0", "2.2" or "latest"
    NOTE    the release note or reference page it implements
    USES    the (kind, name) pairs it is asked about
    apply   a function of a `tpudist.tools.migrate.use.Use`
"""

from __future__ import annotations

import importlib
import inspect
import typing
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Callable

    from tpudist.tools.migrate.use import Use


#: In the order of ``--list-rules``; of two rules for a name the first has it.
NAMES = (
    "loss_scaling",
    "call_for_each_tower",
    "tower_names",
    "unwrap",
    "reduce",
    "extended",
    "merge_call",
    "contexts",
    "distribute_dataset",
    "iterators",
    "run_steps_on_dataset",
    "initialize_system",
    "resolvers",
    "constructor",
    "contrib_tpu",
    "aggregation",
    "sessions",
    "gone_members",
    "contrib_moved",
    "contrib_homes",
    "gone_contrib",
    "renamed_names",
    "first_generation",
    "keras_distribute",
    "keras_members",
    "keras_optimizers",
    "keras_arguments",
    "gone_names",
    "private_modules",
    "gone_by_2_2",
    "run",
    "connect",
    "strategy_class",
    "datasets_from_function",
    "computation_shape",
    "numpy_dataset",
    "graph_iterators",
    "dataset_iterators",
    "changed_names",
)

#: The rule that is not asked about names: imports follow from what is rewritten.
IMPORTS = "imports"


class Rule(typing.NamedTuple):
    """One rule.

    Args:
      name: what marks and settings call it.
      step, note, uses, apply: what its module has as STEP, NOTE, USES and apply.
      text: what it does, at length; the first line is a sentence of its own.
    """

    name: str
    step: str
    note: str
    uses: frozenset[tuple[str, str]]
    apply: Callable[[Use], None]
    text: str

    @property
    def summary(self) -> str:
        """What it does, in a sentence."""
        return self.text.split("\n")[0]


def load() -> list[Rule]:
    """All rules, in order, as a list of Rule."""
    return [_rule(name) for name in NAMES]


def _rule(name: str) -> Rule:
    module = importlib.import_module(__name__ + "." + name)
    return Rule(
        name.replace("_", "-"),
        module.STEP,
        module.NOTE,
        frozenset(module.USES),
        module.apply,
        inspect.cleandoc(module.__doc__ or ""),
    )
