"""Simulation: the robot as a differential equation, and what comes out of it."""
