"""The robot in three dimensions."""
