"""Variables of the virtual TPU: stored once where all replicas agree, else a copy per replica.

:mod:`storage` creates variables and defines their classes. A mirrored variable is stored once
(:mod:`stored_once`) until a replica function gives its copies values of their own (:mod:`splits`).
"""
