"""A journey in a real browser through `trainrx ui`: the runs, a click, the verdict; nothing leaves the machine."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
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
def dashboard(tmp_path: Path, samples: Any) -> Iterator[tuple[subprocess.Popen[str], str]]:
    runs = tmp_path / "runs"
    runs.mkdir()
    samples.store(runs, "1-a", report=samples.full_report("1-a"), steps=samples.step_table(40))
    samples.store(runs, "2-b", report=samples.full_report("2-b", verdict="Nothing dominates.", findings=[]))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = "from trainrx.app.cli import main; main()"
    options = ["ui", "--runs", str(runs), "--port", str(port), "--no-browser"]
    server = subprocess.Popen(
        [sys.executable, "-c", command, *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    assert server.stdout is not None
    line = server.stdout.readline()
    try:
        assert line.startswith(f"Dashboard on http://127.0.0.1:{port}/")
        yield server, f"http://127.0.0.1:{port}/"
    finally:
        server.terminate()
        server.wait(timeout=30)
        server.stdout.close()


def family(server: subprocess.Popen[str]) -> list[psutil.Process]:
    top = psutil.Process(server.pid)
    return [top, *top.children(recursive=True)]


def test_from_the_runs_to_a_verdict(dashboard: tuple[subprocess.Popen[str], str], samples: Any) -> None:
    server, address = dashboard
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page(viewport={"width": 1400, "height": 900})
        faults: list[str] = []
        abroad: list[str] = []
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
        page.on("request", lambda r: None if r.url.startswith(LOCAL) else abroad.append(r.url))
        # GIVEN the page of runs
        page.goto(address)
        page.get_by_text("2 of 2 runs").wait_for(timeout=60_000)
        table = page.locator("[data-testid=stDataFrame] canvas").first
        table.wait_for(timeout=30_000)
        # WHEN the second row, the older run, is clicked
        box = table.bounding_box()
        page.mouse.click(box["x"] + 420, box["y"] + 36 + 72 * 1.5)
        # THEN its verdict is there, the address names it, and the charts are drawn
        page.wait_for_url("**/diagnosis?run=1-a", timeout=30_000)
        page.get_by_role("status").get_by_text(samples.VERDICT).wait_for(timeout=30_000)
        page.locator(".js-plotly-plot .main-svg").first.wait_for(timeout=30_000)
        # WHEN the reader goes back THEN the list is there again
        page.go_back()
        page.get_by_text("2 of 2 runs").wait_for(timeout=30_000)
        assert faults == []
        assert abroad == []
        browser.close()
    listening = [
        connection.laddr.ip
        for process in family(server)
        for connection in process.net_connections("inet")
        if connection.status == psutil.CONN_LISTEN
    ]
    assert set(listening) == {"127.0.0.1"}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_ending_it_leaves_no_process(
    dashboard: tuple[subprocess.Popen[str], str], number: signal.Signals
) -> None:
    server, _ = dashboard
    processes = family(server)
    assert len(processes) >= 2
    server.send_signal(number)
    assert server.wait(timeout=30) == 0
    _, alive = psutil.wait_procs(processes[1:], timeout=10)
    assert alive == []
