"""Chooses what a strategy runs on: TensorFlow's TPU, the virtual one or devices.

`strategies` chooses. `backend` lists the operations that TPUs do differently, which `native`,
`virtual_tpu`, `mirrored`, `cluster` and `virtual_hosts` implement; `step_loops` is the loop of
steps that they share. To change: an operation on one of them is a method of its `Backend`.
"""
