"""A journey in a real browser: a cell narrows the list, a row opens its card, a related method follows."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

import trainrx.app
from trainrx.catalog import load_catalog

playwright = pytest.importorskip("playwright.sync_api")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine"),
]


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The page alone, served on the loopback address."""
    page = Path(trainrx.app.__file__).parent / "pages" / "catalog.py"
    script = tmp_path_factory.mktemp("served") / "served.py"
    lines = (
        "import streamlit as st",
        "st.set_page_config(layout='wide')",
        f"st.navigation([st.Page({str(page)!r})]).run()",
    )
    script.write_text("\n".join(lines))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = subprocess.Popen(
        [
            sys.executable, "-m", "streamlit", "run", str(script), "--server.address=127.0.0.1",
            f"--server.port={port}", "--server.headless=true", "--browser.gatherUsageStats=false",
            "--server.fileWatcherType=none",
        ],
        env={**os.environ, "TRAINRX_METHODS": ""},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        wait_for(f"http://127.0.0.1:{port}/_stcore/health", server)
        yield f"http://127.0.0.1:{port}/"
    finally:
        server.terminate()
        server.wait(timeout=20)


def wait_for(url: str, server: subprocess.Popen[bytes]) -> None:
    for _ in range(240):
        assert server.poll() is None, "the dashboard ended by itself"
        try:
            urllib.request.urlopen(url, timeout=2).close()
        except (urllib.error.URLError, OSError):
            time.sleep(0.25)
        else:
            return
    raise AssertionError("the dashboard did not answer")


def test_from_a_cell_to_a_related_method(address: str) -> None:
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page(viewport={"width": 1400, "height": 1400})
        faults: list[str] = []
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.goto(address)
        target = page.locator(".js-plotly-plot .nsewdrag").first
        target.wait_for(timeout=60_000)
        page.get_by_text(f"{len(load_catalog())} methods", exact=False).first.wait_for(timeout=30_000)
        # WHEN a click falls near the edge of optimization.training-objective × remove
        box = target.bounding_box()
        page.mouse.click(box["x"] + box["width"] / 6 * 0.15, box["y"] + box["height"] / 18 * 4.5)
        # THEN the address is a link to that list
        page.wait_for_url("**part=optimization.training-objective&action=remove**", timeout=30_000)
        page.get_by_text("match the filters", exact=False).wait_for(timeout=30_000)
        # WHEN the first row is clicked THEN its card opens and stands in the address
        rows = page.locator("[data-testid=stDataFrame] canvas").first.bounding_box()
        page.mouse.click(rows["x"] + 18, rows["y"] + 52)
        page.wait_for_url("**method=**", timeout=30_000)
        page.locator("[data-testid=stDialog]").wait_for(timeout=30_000)
        page.keyboard.press("Escape")
        page.wait_for_url(lambda url: "method=" not in url, timeout=30_000)
        # WHEN a card is opened by link and a related method chosen THEN that card opens
        page.goto(f"{address}?method=pin-memory")
        page.locator("[data-testid=stDialog]").get_by_text("non-blocking-copy").click(timeout=30_000)
        page.wait_for_url("**method=non-blocking-copy**", timeout=30_000)
        assert faults == []
        browser.close()
