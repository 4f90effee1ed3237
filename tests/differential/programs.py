"""Random small distributed programs, as data.

A program is a dict of plain Python values, so that ``repr`` prints one and
``ast.literal_eval`` reads it back:

    {"variables": [{"sync", "aggregation", "dtype", "shape", "initial"}, ...],
     "actions": [(kind, ...), ...],
     "detours": whether it goes around what MirroredStrategy cannot do
         (if missing: True)}

An action happens in cross-replica context. The action "run" carries a block:
a list of operations of a replica function. Every operation works on the
replica's number, a float32 scalar, and on the variables; :mod:`replica` and
:mod:`world` say what each does.
"""

from hypothesis import strategies as st

from tests.differential.tensor_ops import LAYERS, OPS
from tpudist.tfcompat import versions

#: Up to 2.3 a call of a function, or tf.cond, ends when its assignments are done, its reads or
#: not: an assignment after it may come before the read, also on one device (plain 2.2 and 2.3:
#: 3 % of 3,000 calls; 2.4: none, reads are control outputs in ``auto_control_deps.py``).
_CALLS_FINISH_READS = versions.TRACE_ONCE  # of the same release

METHODS = ("assign", "assign_add", "assign_sub")
FORMS = ("plain", "function", "twice", "loop")
OPTIMIZERS = {"function": ("descent", "momentum", "keras"), "graph": ("descent", "momentum")}

_small = st.integers(-3, 3)
_OPS, _LAYERS = st.sampled_from(sorted(OPS)), st.sampled_from(sorted(LAYERS))


#: (dtype, aggregation); TensorFlow refuses the mean of an integer variable.
_DTYPES = [("float32", name) for name in ("NONE", "SUM", "MEAN", "ONLY_FIRST_REPLICA")] + [
    ("int32", name) for name in ("NONE", "SUM", "ONLY_FIRST_REPLICA")
]


def _variables():
    variable = st.builds(
        lambda sync, kind, shape, initial: {
            "sync": sync,
            "dtype": kind[0],
            "aggregation": kind[1],
            "shape": shape,
            "initial": initial,
        },
        st.sampled_from(["AUTO", "ON_WRITE", "ON_READ"]),
        st.sampled_from(_DTYPES),
        st.sampled_from([(), (2,)]),
        _small,
    )
    return st.lists(variable, min_size=1, max_size=2)


class _Operations:
    """The operations that make sense for given variables.

    Args:
      variables: the program's variables.
      mode: "function" or "graph".
    """

    def __init__(self, variables, mode):
        self._mode = mode
        numbered = list(enumerate(variables))
        self._all = [i for i, _ in numbered]
        floats = [i for i, v in numbered if v["dtype"] == "float32" and v["sync"] != "ON_READ"]
        self._floats, self._rows = floats, [i for i in floats if variables[i]["shape"]]
        self._local = [
            i
            for i, v in numbered
            if v["sync"] == "ON_READ"
            or (v["aggregation"] == "NONE" and versions.ASSIGN_WITHOUT_AGGREGATION)
        ]
        self._sparse = [i for i in self._rows if i in self._local]

    def local(self, reads=True):
        """Operations in which the replicas do not meet; with `reads` of variables, or without."""
        return st.one_of(
            (self._reads() if reads else [])
            + [
                st.tuples(st.sampled_from(["id", "input", "scale"])),
                st.tuples(st.just("ops"), st.lists(_OPS, min_size=1, max_size=4)),
            ]
            + self._assigns(self._local, st.booleans() if reads else st.just(False))
            + self._each(
                self._sparse,
                "scatter",
                st.sampled_from(["scatter_add", "scatter_sub", "scatter_update"]),
                st.integers(0, 1),
                _small,
            )
            + (self._shared() if reads else [])
        )

    def _reads(self):
        how = st.sampled_from(["value", "read_value", "operator"])
        return [st.tuples(st.just("read"), st.sampled_from(self._all), how)]

    def _shared(self):
        """What replicas do with variables that are not the strategy's.

        In a graph nothing orders what the replicas do.
        """
        if self._mode == "graph":
            return []
        index = st.integers(0, 1)
        return [
            st.tuples(st.just("shared_read"), index),
            st.tuples(st.just("shared_assign"), index, st.sampled_from(METHODS), _small),
        ]

    def meeting(self):
        """Operations in which all replicas meet."""
        reduction = st.sampled_from(["SUM", "MEAN"])
        return st.one_of(
            [
                st.tuples(st.just("all_reduce"), reduction, st.booleans()),
                st.tuples(
                    st.just("merge"),
                    st.sampled_from(["reduce", "batch", "local", "update", "assign", "read"]),
                    st.sampled_from(self._all),
                ),
                st.tuples(st.just("gradient_of_all_reduce"), reduction),
            ]
            + self._assigns(self._all)
            + ([st.tuples(st.just("keras"), _LAYERS)] if self._mode == "function" else [])
            + self._each(self._floats, "gradient")
            + self._each(self._rows, "gather")
            + self._each(self._floats, "optimize", st.sampled_from(OPTIMIZERS[self._mode]))
        )

    def drawing(self):
        """Random numbers, with a seed or with the program's.

        Not in a block within the block: there TensorFlow numbers random ops
        anew, so that MirroredStrategy draws the same on every replica. And
        before 2.2 it numbers them by all ops of the graph.
        """
        has_generator = versions.TRACE_ONCE and self._mode == "function"
        return st.tuples(
            st.just("draw"),
            st.sampled_from(
                ["uniform", "normal", "shuffle", "dropout"] + ["generator"] * has_generator
            ),
            st.integers(0, 3) if versions.BY_DEVICE else st.none() | st.integers(0, 3),
        )

    def nesting(self):
        """Blocks within the block, in which the replicas do not meet.

        Where TensorFlow may do an assignment before a read in an earlier call they read none.
        """
        inner = st.lists(self.local(reads=_CALLS_FINISH_READS), min_size=1, max_size=3)
        kinds = ["cond", "while"]
        if self._mode == "function":
            kinds.append("function")
        return st.tuples(st.sampled_from(kinds), inner)

    def block(self):
        """A replica function."""
        return st.lists(
            st.one_of(self.local(), self.meeting(), self.nesting(), self.drawing()),
            min_size=2,
            max_size=6,
        )

    def _assigns(self, targets, read_value=None):
        return self._each(
            targets,
            "assign",
            st.sampled_from(METHODS),
            st.sampled_from(["number", "constant", "id", "python"]),
            _small,
            st.booleans() if read_value is None else read_value,
        )

    def _each(self, targets, kind, *details):
        if not targets:
            return []
        return [st.tuples(st.just(kind), st.sampled_from(targets), *details)]


def _cross(variables):
    index = st.sampled_from(range(len(variables)))
    return st.lists(
        st.one_of(
            st.tuples(st.just("assign"), index, st.sampled_from(METHODS), _small),
            st.tuples(st.just("read"), index),
            st.tuples(st.just("sum"), index, index),
            st.tuples(st.just("broadcast"), _small),
        ),
        min_size=1,
        max_size=3,
    )


def _as_both_draw(action):
    """`action`, if it draws numbers, in a form in which both engines draw the same.

    In a tf.function that is what is run TensorFlow numbers its random ops anew, so each has
    a seed; see `_Operations.drawing`. And an optimizer that makes variables in the first call
    has tf.function trace twice. MirroredStrategy's variables cannot be lifted out of the
    trace, so that it runs the one in the first call and the other in the second, and draws the
    same numbers again; the virtual TPU's can be, and it goes on.
    """
    kind, block, form = action
    if any(op[0] == "draw" for op in block):
        block = [op[:2] + ("descent",) if op[0] == "optimize" else op for op in block]
    if form == "function":
        block = [op[:2] + (op[2] or 0,) if op[0] == "draw" else op for op in block]
    return kind, block, form


def _as_calls_wait(action):
    """`action` in a form in which one replica's reads are before the next one's assignments."""
    kind, block, form = action
    shared = any(op[0].startswith("shared") for op in block)
    return kind, block, "plain" if form == "function" and shared else form


def _actions(variables, mode):
    index = st.sampled_from(range(len(variables)))
    operations = _Operations(variables, mode)
    forms = FORMS if mode == "function" else ("plain",)
    run = st.tuples(st.just("run"), operations.block(), st.sampled_from(forms)).map(_as_both_draw)
    if not _CALLS_FINISH_READS:
        run = run.map(_as_calls_wait)
    update = st.tuples(
        st.just("update"), index, index, st.sampled_from(METHODS[:2]), _small, st.booleans()
    )
    uneven = st.tuples(st.just("uneven"), st.sampled_from(["SUM", "MEAN"]), st.integers(1, 9))
    again = st.tuples(st.just("again"), st.integers(0, 3))
    return st.lists(
        st.one_of(
            run,
            run,
            run,
            st.tuples(st.just("cross"), _cross(variables)),
            update,
            uneven,
            again,
            again,
        ),
        min_size=2,
        max_size=6,
    )


def programs(mode):
    """A hypothesis strategy of programs for a mode, function or graph."""
    return _variables().flatmap(
        lambda variables: st.fixed_dictionaries(
            {"variables": st.just(variables), "actions": _actions(variables, mode)}
        )
    )
