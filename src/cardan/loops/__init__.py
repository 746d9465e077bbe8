"""Numbers behind closed loops: closing them, counting their freedoms, choosing their equations."""
