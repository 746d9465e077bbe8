"""Models of closed-loop robots."""
