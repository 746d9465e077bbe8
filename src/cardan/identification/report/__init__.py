"""What an identification gives: the result and its page."""
