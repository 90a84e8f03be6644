"""Reads recorded traces into columns: one file per format, `sniff.open_trace` decides which by content."""
