"""Xacro, the macro language of URDF files."""
