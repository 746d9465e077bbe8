"""How it is connected: links, joints, antecedents, loops, cut joints, paths."""
