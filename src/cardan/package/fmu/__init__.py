"""Units of FMI 3.0."""
