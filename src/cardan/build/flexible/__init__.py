"""Models of robots with flexible links."""
