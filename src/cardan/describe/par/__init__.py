"""The format of SYMORO+ and OpenSYMORO."""

from ...renamed import names_of

__getattr__ = names_of(__name__, "read")
