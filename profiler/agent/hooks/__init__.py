"""One file per hook into torch.

Each has ``MODULE``, the torch module whose import it waits for, and ``install(module, recorder)``, which
wraps what it needs there. A wrapper calls the original with the same arguments in every case, lets its exceptions
through, and gives a fault of the agent's own to ``recorder.fail``.
"""
