"""Running scripts of an old era unmodified.

The only place of tpudist that patches anything (Python's import, TensorFlow's
behaviour switches), always inside a context manager that restores it.
"""
