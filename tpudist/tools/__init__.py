"""The tools: commands around a program, which nothing outside this package imports.

``tpudist compile``, ``migrate``, ``matrix``, ``pins``, ``doctor`` and ``selftest`` are a package
each, loaded by the command line when its verb is typed.

To change: a tool's options stand in its ``options.py`` or in ``tpudist/options.py``, its verb in
``tpudist/cli.py``.
"""
