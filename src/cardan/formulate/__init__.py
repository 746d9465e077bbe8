"""The same robot written so that the page costs less: robot -> robot, before the page runs."""
