"""One file per kind of bottleneck."""
