"""Motions: time laws, paths, trajectories, their torques, tables and pictures."""
