"""Inverse geometry: all configurations of a chain for a pose, [KC97] 3.3."""
