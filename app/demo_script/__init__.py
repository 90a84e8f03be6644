"""The training script of the demo, as a user would have written it: it knows nothing of trainrx."""
