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

    from .imports import ImportWatch
    from .intervention.model_calls import ModelCalls
    from .recorder import Recorder

#: One module per hook: each says which torch module it waits for (``MODULE``) and patches it (``install``).
HOOKS = (
    "loader", "fetcher", "pinning", "module", "parallel", "sharding", "backward", "optimizer", "checkpoint",
    "collectives", "functional_collectives", "garbage", "dynamo", "compilation", "recompile_limit", "recomputation",
    "profiling", "signed",
)  # fmt: skip


def start_from_environment() -> None:
    """Record or change this process if the launcher asked for it."""
    options = options_from_environment()
    if options is not None and (os.path.isdir(options.run_dir) or not options.record):
        start(options)


def start(options: Options) -> None:
    """Wait for torch to be imported and hook into it; nothing is written before the first hook is reached."""
    from . import tracebacks
    from .imports import ImportWatch
    from .recorder import Recorder, drain_quietly
    from .sign_in import sign_in

    if options.die_with_parent:
        from .parent import die_with_parent

        die_with_parent()
    recorder = Recorder(options)
    watch = ImportWatch()
    models = _put_on(options, watch, recorder)
    if options.record:
        _record(options, watch, recorder)
        atexit.register(drain_quietly, recorder)
        sign_in(options.run_dir, torch=False)
    else:
        _hook_into(("dynamo",), watch, recorder)
    if models is not None:
        models.start()
    tracebacks.install(recorder.script_failed)


def _put_on(options: Options, watch: ImportWatch, recorder: Recorder) -> ModelCalls | None:
    """Install the knobs, inside of what the hooks put around torch; the watch over models comes last."""
    if not options.knobs:
        return None
    from . import knobs
    from .intervention.journal import Journal
    from .intervention.site import Process

    process = Process(watch, Journal(options.run_dir), recorder.skip_in_dynamo)
    knobs.install(options.knobs, process)
    return process.models


def _record(options: Options, watch: ImportWatch, recorder: Recorder) -> None:
    _hook_into(HOOKS + (("losses",) if options.losses else ()), watch, recorder)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=recorder.forget_parent)


def _hook_into(names: tuple[str, ...], watch: ImportWatch, recorder: Recorder) -> None:
    for name in names:
        hook = import_module(f".hooks.{name}", __name__)
        watch.when_imported(hook.MODULE, partial(_install, hook, recorder))


def install_hooks(options: Options, recorder: Recorder) -> None:
    """Record this process without a launcher: hook into torch, whether it is imported yet or not."""
    from .imports import ImportWatch

    _record(options, ImportWatch(), recorder)


def _install(hook: Any, recorder: Recorder, module: ModuleType) -> None:
    try:
        hook.install(module, recorder)
    except Exception as error:
        recorder.fail(error)
