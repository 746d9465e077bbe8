"""Mathematics over any scalar: vectors, rotations applied factor by factor, small solves."""
