"""The core: one vocabulary over two backends, the native TPU and the virtual TPU.

:mod:`tpudist.core.adapter` has a function an operation, :mod:`tpudist.core.backend` lists
what is not the same on every TPU. To change: what an operation means on all surfaces. It
knows no era and no tool, and imports no private module of TensorFlow.
"""
