"""The trace of a replica function, as a graph that can be read: segments, effects, collectives."""
