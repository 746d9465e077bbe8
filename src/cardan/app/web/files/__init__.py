"""Files that users open: archives, meshes, and what robots look like."""
