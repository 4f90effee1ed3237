"""The compatibility layer: which TensorFlow this is, and what it keeps private.

Only :mod:`tpudist.tfcompat.versions` asks which TensorFlow is installed, and only this
package (and :mod:`tpudist.virtual`, where it subclasses) imports TensorFlow's private
modules. To change: a flag, or how a release's difference is hidden; semantics live above.

- `versions`: the flags.
- `distributed`, with `distributed_before_2_2` and `distributed_values`: distributed values,
  variables and strategies; `nests` of them.
- `functions`, `graphs`, `made_ops`: functions and graphs, and ops that tpudist adds to them;
  `placed_graphs`, `random_seeds`: the function graphs that tpudist traces and builds.
- `tpu`, `tpu_client`: TensorFlow's own TPU code. `estimators`, `keras_packages`: Estimator and
  Keras.
"""
