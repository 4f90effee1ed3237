"""One replica's step, traced with a symbolic replica id and lowered to HLO.

While a step is lowered, one trace stands for all replicas of a virtual TPU, as on the
chip, and its collectives are ops. To change: what is traced and how it is lowered; the
compiler and its report are in the package above.
"""
