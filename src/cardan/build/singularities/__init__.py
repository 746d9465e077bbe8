"""Where the Jacobian of an arm is singular: its determinant in factors, each with its meaning."""
