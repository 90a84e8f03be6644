"""Predicts what a change would bring, by replaying a recorded timeline with other durations."""
