"""The general method: all configurations of any six joints, by elimination."""

from ...renamed import names_of

__getattr__ = names_of(__name__, "method")
