"""The core: one adapter over two backends, the native TPU and the virtual TPU.

Nothing in here knows an era or a tool.
"""
