"""Ready packages: what `emit` spells, with build files, a worked example and tests beside it."""

from .write import KINDS, Written, write_package

__all__ = ["KINDS", "Written", "write_package"]
