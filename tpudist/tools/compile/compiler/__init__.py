"""Compiles a lowered step with libtpu, in a process of its own, and builds the report."""
