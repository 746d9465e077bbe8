"""Sweeps: a model over millions of states, in chunks that survive a kill."""
