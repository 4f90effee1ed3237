"""The command ``tpudist run --compile``.

* :mod:`run_command`: compiles all functions that a script runs on replicas.
* :mod:`gate`: writes reports, and compares them with limits and earlier reports.
"""
