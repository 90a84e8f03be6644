"""Says why a run has no step to time: what the recorder saw, and what to do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import numpy as np

from .agent import format as layout
from .agent.sign_in import FOLDER as PROCESSES
from .exit_code import how_it_failed
from .facts import text
from .recording import RankRecording
from .store import Manifest
from .timeline.frames import innermost_user_frame
from .vocabulary import RunStatus

_SEEN = {
    layout.DATA_WAIT: "batch fetch",
    layout.FORWARD: "forward call",
    layout.BACKWARD: "backward pass",
    layout.OPTIMIZER: "optimizer step",
}
MAX_CARDS = 1000
MAX_CARD_BYTES = 1024 * 1024


def why_no_step(run_dir: Path, manifest: Manifest, recording: RankRecording | None) -> str:
    """One sentence on what was seen, and one on what to do."""
    if manifest.status is RunStatus.FAILED and manifest.exit_code:
        return f"The command {how_it_failed(manifest.exit_code)} before a step was over: see what it printed."
    if recording is not None and len(recording.of_code(layout.STEP)):
        return "Only warm-up steps were recorded: let the script make more steps, or lower --warmup."
    cards = _cards(run_dir)
    if not cards:
        return (
            "No step was recorded: the recorder was not loaded, because the command started no Python process, or one "
            "that ignores PYTHONPATH (python -I, -E or -S). Start the training with a plain `python`."
        )
    fault = next((fault for card in cards if (fault := text(card, "fault"))), None)
    if recording is not None and recording.fault is not None:
        fault = recording.fault_line
    if fault is not None:
        return f"No step was recorded: the recorder switched itself off after a fault of its own: {fault}."
    if not any(card.get("torch") for card in cards):
        return "No step was recorded: the command never imported torch. Check that it is the training script."
    if recording is None:
        return (
            "No step was recorded: torch was imported, but no DataLoader, module, backward pass or optimizer was used. "
            "Check that the script came as far as its training loop."
        )
    return f"No step was recorded: {_what_was_seen(recording)}{_where_it_was(recording)}."


def _cards(run_dir: Path) -> list[dict[str, Any]]:
    cards: list[dict[str, Any]] = []
    for path in sorted((run_dir / PROCESSES).glob("*.json"))[:MAX_CARDS]:
        try:
            with path.open("rb") as file:
                card = json.loads(file.read(MAX_CARD_BYTES))
        except (OSError, ValueError, RecursionError):
            continue
        if isinstance(card, dict):
            cards.append(cast("dict[str, Any]", card))
    return cards


def _what_was_seen(recording: RankRecording) -> str:
    counts = {name: len(recording.of_code(code)) for code, name in _SEEN.items()}
    if counts["optimizer step"] == 1:
        return "the script made a single optimizer step, and one step has no end that could be seen"
    seen = [f"{count} {name if count == 1 else _plural(name)}" for name, count in counts.items() if count]
    text = " and ".join(seen) if seen else "no training activity"
    return f"the recorder saw {text}, but no optimizer step of torch.optim, which is what ends a step"


def _plural(name: str) -> str:
    return name + ("es" if name.endswith(("s", "ch")) else "s")


def _where_it_was(recording: RankRecording) -> str:
    """Where the main thread was seen most in the last third of the samples."""
    stacks = recording.samples[-max(len(recording.samples) // 3, 1) :, 1]
    if not len(stacks):
        return ""
    numbers, counts = np.unique(stacks, return_counts=True)
    frame = innermost_user_frame(recording.stacks.get(int(numbers[counts.argmax()]), ()), recording.process)
    return f"; it was last busy at {frame.file}:{frame.line} ({frame.function})" if frame is not None else ""
