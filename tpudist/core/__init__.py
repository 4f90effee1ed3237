"""The core: one adapter over two backends, the native TPU and the virtual TPU.

Nothing in here knows an era; only :mod:`tpudist.core.versions` asks which
TensorFlow is installed, and only this package imports TensorFlow's private
modules.
"""
