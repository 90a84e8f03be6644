"""Run against run, and methods by quality against cost: what changed, by how much, and what makes it unfair."""
