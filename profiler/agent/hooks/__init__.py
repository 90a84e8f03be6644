"""One file per hook into torch."""
