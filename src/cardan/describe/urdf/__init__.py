"""URDF files."""

from ...renamed import names_of

__getattr__ = names_of(__name__, "read")
