"""``tpudist run``: running scripts of an old era unmodified.

The only place of tpudist that patches anything (Python's import, TensorFlow's
behaviour switches), always inside a context manager that restores it. To change: what a
script sees; which names an era has, the table (:mod:`tpudist.surfaces`) says.
"""
