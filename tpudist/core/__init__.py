"""The core: one vocabulary over two backends, the native TPU and the virtual TPU.

:mod:`tpudist.core.adapter` has one function per operation, :mod:`tpudist.core.backends.backend`
lists those that TPUs do differently. To change: what an operation means on all surfaces. It
knows no era and no tool, and imports no private module of TensorFlow.

- `contexts` checks where a call is made; `replica_values` and `cross_replica` have what is done
  to values and variables, `step_loops` the loops of steps, `logical_devices` the shardings.
- `base_classes`: what a facade's strategy derives from; `backends`: what it runs on.
- `system`: finding, starting and naming TPUs. `input`: distributed datasets. `computations`: the
  operations below a strategy. `keras`: ``keras_to_tpu_model`` and batches of Keras' own loops.
"""
