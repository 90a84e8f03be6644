"""What happened: records a run or reads a trace, lays out its timeline, finds its bottlenecks."""
