"""The serial path from the base to a frame, its fixed frames folded."""

from ...renamed import names_of

__getattr__ = names_of(__name__, "chain")
