"""Trials: measures on the user's own script what a change brings."""
