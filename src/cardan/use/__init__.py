"""What models are for: trajectories, simulation, control, identification, vibration, plots."""
