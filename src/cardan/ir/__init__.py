"""The program: hash-consed expressions, straight-line code, cost, passes. Knows no robotics."""
