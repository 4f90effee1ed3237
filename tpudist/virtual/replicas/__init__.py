"""Running a replica function: traced once for all replicas, or once per replica.

:mod:`replicate` chooses; :mod:`program` traces once, :mod:`per_replica_trace` once per replica.
Replicas meet in a :mod:`merge`; :mod:`segment_calls` builds the calls of what lies between.
"""
