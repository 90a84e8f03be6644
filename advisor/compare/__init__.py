"""Run against run: what changed, by how much, and what makes the comparison unfair."""
