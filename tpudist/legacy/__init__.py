"""``tpudist run``: running scripts of an old era unmodified.

The only place in tpudist that patches anything (Python's import, TensorFlow's
behaviour switches), always inside a context manager that restores it. To change: what a
script sees; the table (:mod:`tpudist.surfaces`) lists which names an era has.
"""
