"""The part that runs inside the user's process: standard library and torch only."""
