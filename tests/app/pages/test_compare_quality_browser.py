"""Metric files uploaded in a real browser: the curves are drawn, in both themes, without faults or foreign requests."""

from __future__ import annotations

import math
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

playwright = pytest.importorskip("playwright.sync_api")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
LOCAL = ("http://127.0.0.1:", "ws://127.0.0.1:", "data:", "blob:")

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine"),
]


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """A dashboard on a free port over an empty folder of runs."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = subprocess.Popen(
        [sys.executable, "-c", "from trainrx.app.cli import main; main()", "ui", "--runs", str(tmp_path / "runs"),
         "--port", str(port), "--no-browser"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )  # fmt: skip
    assert server.stdout is not None
    yield server.stdout.readline().split()[2]
    server.terminate()
    server.wait(timeout=30)
    server.stdout.close()


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Three seeds each of two methods."""
    found: list[str] = []
    for name, pace in (("base", 1.0), ("new", 2.0)):
        for seed in range(3):
            own = pace * (1 + 0.03 * seed)
            rows = (f"{step},{3 * math.exp(-step * own / 100):.6f}" for step in range(10, 310, 10))
            path = tmp_path / f"{name}-seed{seed}.csv"
            path.write_text("step,val_loss\n" + "\n".join(rows))
            found.append(str(path))
    return found


def test_uploaded_trainings_are_compared(address: str, files: list[str]) -> None:
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page(viewport={"width": 1400, "height": 900}, color_scheme="dark")
        faults: list[str] = []
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("request", lambda r: None if r.url.startswith(LOCAL) else faults.append(r.url))
        # GIVEN a page without metric files
        page.goto(f"{address}compare?part=quality")
        page.get_by_text("No metric files yet").wait_for(timeout=60_000)
        # WHEN some are uploaded THEN the methods are compared and all three charts drawn
        page.locator("input[type=file]").set_input_files(files)
        page.get_by_text("new reaches val_loss").wait_for(timeout=60_000)
        page.locator(".js-plotly-plot .main-svg").nth(2).wait_for(state="attached", timeout=60_000)
        # WHEN a question is answered with no THEN the number is gone
        page.get_by_text("no", exact=True).first.click()
        page.get_by_text("No headline number").wait_for(timeout=30_000)
        assert faults == []
        browser.close()
