"""One replica's step, traced with a symbolic replica id and lowered to HLO."""
