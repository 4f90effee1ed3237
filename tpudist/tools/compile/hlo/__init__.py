"""Programs in HLO: their messages, the form they are handed over in, what is read off them.

Knows neither TensorFlow nor a compiler; imports protobuf only. To change: a field
that is read for the first time goes into the table of :mod:`messages`.
"""
