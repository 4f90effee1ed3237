"""The core: one vocabulary over two backends, the native TPU and the virtual TPU.

:mod:`tpudist.core.adapter` has one function per operation, :mod:`tpudist.core.backends.backend`
lists those that TPUs do differently. To change: what an operation means on all surfaces. It
knows no era and no tool, and imports no private module of TensorFlow.
"""
