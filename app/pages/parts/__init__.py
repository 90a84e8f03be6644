"""Pieces that pages draw with: no page of its own, and no arithmetic either."""
