"""Starts Streamlit for the dashboard, bound to the loopback address only."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ADDRESS = "127.0.0.1"


def serve(runs: Path, *, port: int, open_browser: bool, page: str = "") -> int:
    """Run the dashboard until it is stopped; returns its exit code."""
    environment = dict(os.environ, TRAINRX_RUNS=str(runs.resolve()))
    command = [
        sys.executable, "-m", "streamlit", "run", str(Path(__file__).with_name("dashboard.py")),
        f"--server.address={ADDRESS}",
        f"--server.port={port}",
        f"--server.headless={'false' if open_browser else 'true'}",
        "--browser.gatherUsageStats=false",
        "--server.fileWatcherType=none",
        "--client.toolbarMode=minimal",
    ]  # fmt: skip
    process = subprocess.Popen(command, env=environment)
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:
            continue
