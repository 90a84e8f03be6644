"""One file per hook into torch.

Each has ``MODULE``, the torch module whose import it waits for, and ``install(module, recorder)``, which
wraps what it needs there. A wrapper calls the original with the same arguments in every case and lets its exceptions
through.
"""
