"""One replica's step, traced with a symbolic replica id and lowered to HLO.

The third face of a strategy on the virtual TPU: one trace stands for all replicas, as on
the chip, and its collectives are ops. To change: what is traced and how it is lowered;
the compiler and its report are the package's above.
"""
