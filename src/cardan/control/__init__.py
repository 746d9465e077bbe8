"""Control laws, linearisation, reduced and tabulated models."""
