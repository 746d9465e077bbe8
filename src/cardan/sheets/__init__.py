"""A robot on paper: its picture, its tables and its models as one document."""
