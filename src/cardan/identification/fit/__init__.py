"""Estimates, their deviations, and bodies that real links can have."""
