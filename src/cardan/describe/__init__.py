"""What the user wrote: text to a Robot description with exact values, and back. No mechanics."""
