"""The version of Cardan, stated once."""

__version__ = "0.2.0"
