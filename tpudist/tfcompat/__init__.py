"""The compatibility layer: which TensorFlow this is, and what it keeps private.

Only :mod:`tpudist.tfcompat.versions` asks which TensorFlow is installed, and only this
package (and :mod:`tpudist.virtual`, where it subclasses) imports TensorFlow's private
modules. To change: a flag, or how a release's difference is hidden; semantics live above.
"""
