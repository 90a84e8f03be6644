"""What to do: puts the catalog to a run's bottlenecks, and measures what changes bring."""
