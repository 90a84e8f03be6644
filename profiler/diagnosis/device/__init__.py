"""Rules on device traces: one file per bottleneck kind."""
