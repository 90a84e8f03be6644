"""What the terminal shows: values in, rich text out."""
