"""What models are for: trajectories, torques, simulation, control, identification, sweeps.

Modules are imported by name (`from cardan.use import trajectory, simulate`); none is loaded here.
"""
