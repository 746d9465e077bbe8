"""Cardan beside every peer that is installed: the same robots and states, in one run.

report = bench([cardan.load("iiwa14")])
print(report), report.save("figures.json"), report.picture("figures.png")
"""

from .compare import PEERS, bench
from .report import Report, Row

__all__ = ["PEERS", "Report", "Row", "bench"]
