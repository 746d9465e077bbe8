"""Values of a description: exact numbers, formulas and units, read from text and never run."""
