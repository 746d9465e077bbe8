"""Denavit-Hartenberg tables of other conventions."""

from ...renamed import names_of

__getattr__ = names_of(__name__, "tables")
