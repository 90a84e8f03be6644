"""Leaves word that the agent was loaded in a process, so that "nothing was recorded" can be explained."""

from __future__ import annotations

import json
import os
import sys

FOLDER = "processes"


def sign_in(run_dir: str, *, torch: bool, fault: BaseException | None = None) -> None:
    """Write this process's card.

    Args:
        run_dir: the run's folder.
        torch: whether the process has imported torch by now.
        fault: what made the agent switch itself off before the first step.
    """
    argv = list(getattr(sys, "orig_argv", sys.argv))
    if any(argument.startswith("from multiprocessing.") for argument in argv):
        return
    card = {"pid": os.getpid(), "argv": argv, "torch": torch, "fault": None if fault is None else repr(fault)}
    folder = os.path.join(run_dir, FOLDER)
    try:
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, f"{os.getpid()}.json"), "w", encoding="utf-8") as file:
            json.dump(card, file)
    except OSError:
        return
