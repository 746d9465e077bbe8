"""Motion and pictures of robots with flexible links."""
