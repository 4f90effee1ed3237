"""The compatibility layer: which TensorFlow this is, and what it keeps private.

Only :mod:`tpudist.tfcompat.versions` asks which TensorFlow is installed, and only this package (and
:mod:`tpudist.virtual`, where it subclasses) imports TensorFlow's private modules. To change: a flag
of `versions`, or how a release's difference is hidden; semantics live above.

`distributed`, with `distributed_before_2_2` and `distributed_values`, has values, variables and
strategies; `functions`, `graphs`, `made_ops`, `placed_graphs`, `random_seeds` functions and graphs.
"""
