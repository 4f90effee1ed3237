"""Batching branches, loops and calls: the ops inside of them too, also where replicas diverge."""
