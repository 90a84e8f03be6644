"""What is known: methods of efficient training, their evidence, and two taxonomies."""
