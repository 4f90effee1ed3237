"""The tools: commands around a program, which nothing outside this package imports.

``tpudist migrate``, ``matrix``, ``pins``, ``doctor``, ``selftest`` and ``run --compile`` are a
package each, loaded by the command line when its verb is typed.

To change: a tool's options and its verb stand in its package, which ``tpudist/cli.py`` lists.
What two tools share stands in ``tpudist/toolbox``.
"""
