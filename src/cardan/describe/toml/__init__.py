"""Our own format: a TOML file of links, documented in docs/format.md."""

from ...renamed import names_of

__getattr__ = names_of(__name__, "read")
