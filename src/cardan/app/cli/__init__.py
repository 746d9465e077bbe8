"""The command line: a thin layer over the library, one module for each group of verbs."""

from .main import app, main

__all__ = ["app", "main"]
