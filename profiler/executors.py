"""Executors that work elsewhere, by their address: ``dask://HOST:PORT`` is the scheduler of a Dask cluster.

Gives a standard `concurrent.futures.Executor` and knows nothing of what is run on it.
"""

from __future__ import annotations

from collections.abc import Generator
from concurrent.futures import Executor
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from .errors import UsageError

DASK = "dask://"
PATIENCE_S = 10
"""How long a scheduler may take to answer."""


@contextmanager
def executor_at(address: str) -> Generator[tuple[Executor, int]]:
    """The executor of an address, and how many tasks it runs at a time, as long as the context lasts.

    Raises:
        UsageError: the address is of no known form, what it needs is not installed, or nobody answers.
    """
    host = address.removeprefix(DASK)
    if host == address or ":" not in host:
        raise UsageError(f"--executor {address!r} is no address that is known: give dask://HOST:PORT")
    with _dask_client(host) as client:
        yield client.get_executor(pure=False), max(sum(client.nthreads().values()), 1)


def _dask_client(host: str) -> Any:
    try:
        distributed = import_module("distributed")
    except ImportError:
        raise UsageError("--executor dask://… needs an extra: pip install 'trainrx[dask]'") from None
    try:
        return distributed.Client(f"tcp://{host}", timeout=PATIENCE_S, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise UsageError(f"no Dask scheduler answers at {host}: {reason[:300]}") from None
