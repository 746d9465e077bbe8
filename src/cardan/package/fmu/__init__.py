"""Units of FMI 3.0 and 2.0."""
