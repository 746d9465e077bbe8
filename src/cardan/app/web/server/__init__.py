"""The server: who may talk to it, projects on disk, the state of a page."""
