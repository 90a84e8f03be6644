"""What a page or a command shows, worked out apart from how it is drawn."""
