"""Records a training loop in the process that runs it, for notebooks and for scripts that want it in code.

::

    from trainrx.profiler import profile

    with profile(steps=40) as run:
        train()
    print(run.report.verdict)

The hooks are put around torch at the first use and stay, switched off, after the block. Recording stops after the
steps; the loop goes on. What needs a launcher beside the process is left out: telemetry, and workers that are not
forked.
"""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from datetime import datetime, timezone
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

from .agent import install_hooks
from .agent.hooks.collectives import FUNCTIONS as COLLECTIVES
from .agent.options import Options
from .agent.recorder import Recorder, drain_quietly
from .agent.sign_in import sign_in
from .analysis import analyse
from .calibration import machine_key
from .compute import MACHINE
from .errors import UsageError
from .report import Report
from .store import Manifest, RunFolder, create_run
from .vocabulary import RunStatus

RUNS_VARIABLE = "TRAINRX_RUNS"
DEFAULT_RUNS = "trainrx-runs"
#: The agent's name in a process that ``trainrx profile`` has started.
_STARTED_AGENT = "_trainrx_agent"
_recorders: list[Recorder] = []
_open_blocks: list[RecordedBlock] = []


class RecordedBlock:
    """A run recorded in this process; complete once its block is over.

    Attributes:
        folder: where it lies; ``trainrx show`` opens it.
    """

    def __init__(self, folder: RunFolder) -> None:
        self.folder = folder

    @cached_property
    def report(self) -> Report:
        """What the block's steps waited for, analysed when first asked for; ask after the block."""
        return analyse(self.folder).report


@contextmanager
def profile(
    *, steps: int | None = 40, warmup: int = 5, deep: bool = True, runs: str | Path | None = None
) -> Generator[RecordedBlock]:
    """Record the training steps made in a block.

    Args:
        steps: how many to time; None times all of them.
        warmup: steps left out of the timing before them.
        deep: trace a few steps more with ``torch.profiler`` after them, and count the operations of one.
        runs: the folder of runs; ``$TRAINRX_RUNS`` or ``./trainrx-runs`` if left out.

    Raises:
        UsageError: this process is being recorded already, or the folder cannot be written.
    """
    if _STARTED_AGENT in sys.modules or _open_blocks:
        raise UsageError("this process is being recorded already: one recording at a time")
    if (steps is not None and steps < 1) or warmup < 0:
        raise UsageError(f"steps is {steps} and warmup {warmup}: expected 1 or more, and 0 or more")
    run = create_run(Path(runs or os.environ.get(RUNS_VARIABLE) or DEFAULT_RUNS), name="notebook")
    run.release_reserve()
    options = Options(
        run_dir=str(run.path.resolve()),
        steps=steps,
        warmup=warmup,
        traced_steps=3 if deep else 0,
        end_script=False,
    )
    manifest = _manifest(run, options)
    run.write_manifest(manifest)
    recorder = _armed(options)
    status = RunStatus.FAILED
    _open_blocks.append(RecordedBlock(run))
    try:
        yield _open_blocks[0]
        status = RunStatus.FINISHED if recorder.is_on else RunStatus.STOPPED
    except KeyboardInterrupt:
        status = RunStatus.INTERRUPTED
        raise
    finally:
        _open_blocks.clear()
        drain_quietly(recorder)
        recorder.switch_off()
        run.write_manifest(manifest.model_copy(update={"status": status}))


def _armed(options: Options) -> Recorder:
    """The recorder of this process, with its hooks in place, ready for a new run."""
    if _recorders:
        _recorders[0].rearm(options)
    else:
        recorder = Recorder(options)
        install_hooks(options, recorder)
        _renew_names()
        atexit.register(drain_quietly, recorder)
        _recorders.append(recorder)
    sign_in(options.run_dir, torch="torch" in sys.modules)
    return _recorders[0]


def _renew_names() -> None:
    """Let torch's packages name the functions that are hooked now, where they took the name before."""
    torch, distributed = sys.modules.get("torch"), sys.modules.get("torch.distributed")
    if torch is not None:
        _renew(torch, "save", sys.modules.get("torch.serialization"))
    for name in COLLECTIVES:
        _renew(distributed, name, sys.modules.get("torch.distributed.distributed_c10d"))


def _renew(package: Any, name: str, home: Any) -> None:
    hooked = getattr(home, name, None)
    if hooked is not None and getattr(package, name, None) is getattr(hooked, "__wrapped__", package):
        setattr(package, name, hooked)


def _manifest(run: RunFolder, options: Options) -> Manifest:
    return Manifest(
        id=run.path.name,
        command=list(sys.argv),
        cwd=str(Path.cwd()),
        started=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        status=RunStatus.RECORDING,
        launcher_pid=os.getpid(),
        options={"steps": options.steps, "warmup": options.warmup, "traced_steps": options.traced_steps},
        versions={"trainrx": version("trainrx"), "python": sys.version.split()[0], MACHINE: machine_key()},
    )
