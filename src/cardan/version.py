"""The version of Cardan, stated once."""

__version__ = "0.1.0"
