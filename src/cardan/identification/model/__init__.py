"""The identification equations y = W K of a motion."""
