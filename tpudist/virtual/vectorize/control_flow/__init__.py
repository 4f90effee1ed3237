"""Batching branches, loops and calls, and the ops in them, where replicas go the same way."""
