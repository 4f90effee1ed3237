"""The virtual TPU: N cores of a slice on one real device.

A replica function is traced once (:mod:`replicas`), cut into segments where replicas meet
(:mod:`trace`), and each segment is called: once for all replicas (:mod:`vectorize`), or once
per replica, which is what it means. :mod:`variables` and :mod:`input` store and feed what the
replicas have of their own; :mod:`extended` is what a strategy sees of all this.

``TPUDIST_VECTORIZE=0`` leaves ``vectorize`` out: slower, with the same numbers. To change: how N
replicas are computed; what users see stands above. The glossary is in CONTRIBUTING.md.
"""
