"""A journey in a real browser from a verdict to its advice, a comparison, and a trial started, found and cancelled."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from trainrx.app.background_trial import cancel, last_started
from trainrx.profiler.store import RunFolder

playwright = pytest.importorskip("playwright.sync_api")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
LOCAL = ("http://127.0.0.1:", "ws://127.0.0.1:", "data:", "blob:")
#: Streamlit asks for these beside a page that is opened by its address, and goes on without them.
PROBES = "_stcore/"
SCRIPT = """
import torch
from torch.utils.data import DataLoader
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
while True:
    for batch in DataLoader(torch.randn(64, 4), batch_size=4):
        optimizer.zero_grad()
        model(batch).sum().backward()
        optimizer.step()
"""

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine"),
]


@pytest.fixture
def run(tmp_path: Path, samples: Any) -> Iterator[RunFolder]:
    """A stored run of a script that never ends by itself, and an older one to compare with."""
    runs = tmp_path / "runs"
    runs.mkdir()
    script = tmp_path / "train.py"
    script.write_text(SCRIPT)
    samples.store(runs, "1-old", report=samples.traced_report("1-old"), steps=samples.step_table(40))
    kept = samples.manifest("2-new").model_copy(
        update={"command": [sys.executable, str(script)], "cwd": str(tmp_path)}
    )
    stored = samples.store(
        runs, "2-new", report=samples.advised_report("2-new"), steps=samples.step_table(40), kept=kept
    )
    yield stored
    cancel(stored)


@contextmanager
def dashboard(runs: Path, *options: str) -> Iterator[str]:
    """A dashboard on a free port; gives the URL that it tells."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = subprocess.Popen(
        [sys.executable, "-c", "from trainrx.app.cli import main; main()", "ui", "--runs", str(runs),
         "--port", str(port), "--no-browser", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )  # fmt: skip
    assert server.stdout is not None
    try:
        yield server.stdout.readline().split()[2]
    finally:
        server.terminate()
        server.wait(timeout=30)
        server.stdout.close()


@contextmanager
def browser_page() -> Iterator[Any]:
    """A page whose faults and foreign requests fail the test at its end."""
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page(viewport={"width": 1400, "height": 900})
        faults: list[str] = []
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on(
            "response", lambda r: faults.append(r.url) if r.status >= 400 and PROBES not in r.url else None
        )
        page.on("request", lambda r: None if r.url.startswith(LOCAL) else faults.append(r.url))
        yield page
        assert faults == []
        browser.close()


CUT = """elements => elements.filter(
    one => one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).overflow !== 'visible'
        || getComputedStyle(one).textOverflow === 'ellipsis' || getComputedStyle(one).whiteSpace === 'nowrap'
).map(one => one.textContent)"""


def test_what_stands_below_a_figure_is_not_cut(run: RunFolder, samples: Any) -> None:
    loader = samples.loader(num_workers=0, empty_share=None, start_s=None)
    samples.store(run.path.parent, "3-loads", report=samples.full_report("3-loads", loader=loader))
    with dashboard(run.path.parent) as address, browser_page() as page:
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            page.goto(f"{address}diagnosis?run=3-loads")
            page.get_by_text("the training process loads by itself").wait_for(timeout=60_000)
            details = page.locator("[data-testid=stMetricDelta], [data-testid=stMetricDelta] *")
            assert details.count() >= 5
            assert details.evaluate_all(CUT) == []


def test_from_a_verdict_to_advice_comparison_and_trial(run: RunFolder) -> None:
    with dashboard(run.path.parent) as address, browser_page() as page:
        # GIVEN the diagnosis WHEN its first advice is clicked THEN the advice is there, with its chart
        page.goto(f"{address}diagnosis?run=2-new")
        page.get_by_text("First to try: DataLoader worker processes").click(timeout=60_000)
        page.wait_for_url("**/advice?run=2-new", timeout=30_000)
        page.get_by_text("It did not pay here.").wait_for(timeout=30_000)
        page.locator(".js-plotly-plot .main-svg").first.wait_for(timeout=30_000)
        # WHEN its method is opened THEN the card of that method is shown
        page.get_by_role("link", name="Method card").first.click()
        page.get_by_role("dialog").get_by_text("Reference").wait_for(timeout=30_000)
        # WHEN two runs are compared THEN both are there
        page.goto(f"{address}compare?runs=1-old,2-new")
        page.get_by_role("status").wait_for(timeout=30_000)
        page.get_by_text("Diagnosis of the second run").wait_for(timeout=30_000)
        # WHEN a trial is started THEN it is followed, and found again after a reload
        page.goto(f"{address}trials?run=2-new")
        page.get_by_role("button", name="Start").click(timeout=30_000)
        page.get_by_text("Measuring").wait_for(timeout=30_000)
        page.reload()
        page.get_by_text("Measuring").wait_for(timeout=30_000)
        started = last_started(run)
        assert started is not None
        family = [psutil.Process(started.pid), *psutil.Process(started.pid).children(recursive=True)]
        # WHEN it is cancelled THEN the form is back and no process is left
        page.get_by_role("button", name="Cancel").click()
        page.get_by_role("button", name="Start").wait_for(timeout=60_000)
    assert not started.running
    assert [one for one in family if one.is_running() and one.status() != psutil.STATUS_ZOMBIE] == []


def test_only_the_link_with_the_token_can_start_something(run: RunFolder) -> None:
    options = ("--address", "0.0.0.0", "--allow-run")
    with dashboard(run.path.parent, *options) as link, browser_page() as page:
        port = link.split(":")[2].partition("/")[0]
        address, query = f"http://127.0.0.1:{port}/", link.partition("?")[2]
        # GIVEN a request without the token THEN there is no button
        page.goto(f"{address}trials?run=2-new")
        page.get_by_text("the link with the token").wait_for(timeout=60_000)
        assert page.get_by_role("button", name="Start").count() == 0
        # WHEN the link is opened THEN there is one, and the address no longer tells the token
        page.goto(f"{address}trials?run=2-new&{query}")
        page.get_by_role("button", name="Start").wait_for(timeout=30_000)
        assert "token" not in page.url
    assert last_started(run) is None


def test_a_server_that_others_reach_starts_nothing(run: RunFolder) -> None:
    with dashboard(run.path.parent, "--address", "0.0.0.0") as link, browser_page() as page:
        page.goto(f"http://127.0.0.1:{link.split(':')[2].partition('/')[0]}/trials?run=2-new")
        page.get_by_text("can be reached from other machines").wait_for(timeout=60_000)
        assert page.get_by_role("button", name="Start").count() == 0
