"""Report in, ready-formatted values out: what terminal and dashboard show, not how it is drawn."""
