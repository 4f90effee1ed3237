"""The tools: commands around a program, a package each, which nothing outside imports.

To change: a tool's options and its verb stand in its package, which ``tpudist/cli.py`` lists.
What two tools share stands in ``tpudist/toolbox``.
"""
