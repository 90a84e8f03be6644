"""The part that runs inside the user's process: standard library and torch only.

It never changes results, never breaks a run, never prints, never sends anything. A fault of its own switches it off.
"""

from __future__ import annotations

import atexit
import os
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from .options import Options, options_from_environment

if TYPE_CHECKING:
    from types import ModuleType

    from .recorder import Recorder

#: One module per hook: each says which torch module it waits for (``MODULE``) and patches it (``install``).
HOOKS = (
    "loader", "fetcher", "module", "parallel", "backward", "optimizer", "checkpoint", "collectives", "garbage",
    "dynamo", "compilation", "signed",
)  # fmt: skip


def start_from_environment() -> None:
    """Record this process if the launcher asked for it."""
    options = options_from_environment()
    if options is not None and os.path.isdir(options.run_dir):
        start(options)


def start(options: Options) -> None:
    """Wait for torch to be imported and hook into it; nothing is written before the first hook is reached."""
    from . import tracebacks
    from .imports import ImportWatch
    from .recorder import Recorder, drain_quietly
    from .sign_in import sign_in

    recorder = Recorder(options)
    watch = ImportWatch()
    for name in HOOKS:
        hook = import_module(f".hooks.{name}", __name__)
        watch.when_imported(hook.MODULE, partial(_install, hook, recorder))
    sign_in(options.run_dir, torch=False)
    tracebacks.install()
    atexit.register(drain_quietly, recorder)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=recorder.forget_parent)


def _install(hook: Any, recorder: Recorder, module: ModuleType) -> None:
    try:
        hook.install(module, recorder)
    except Exception as error:
        recorder.fail(error)
