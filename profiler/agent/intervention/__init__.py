"""What the knobs are made of: reading values, meeting loaders, optimizers and models, and telling whether they took.

Like the whole agent it imports the standard library and torch only. It changes nothing unless a knob asks.
"""
