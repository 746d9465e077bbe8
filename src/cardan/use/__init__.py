"""What models are for: trajectories, simulation, control, identification, sweeps, comparisons."""
