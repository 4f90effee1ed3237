"""Resolves what a name in a program stands for, without running it.

Files are read by Python's own parser; names are followed through imports, variables, attributes and
calls of a code base to what they may be. What is not known is said to be unknown.
To change: what can be followed; what becomes of a use is :mod:`tpudist.tools.migrate`'s.
"""
