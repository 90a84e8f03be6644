"""The HTML report in a real browser, from disk, without network: charts, both themes, print, hostile runs."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from trainrx.app.report.contents import contents
from trainrx.app.report.file import target
from trainrx.app.stored import open_run

playwright = pytest.importorskip("playwright.sync_api")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
LOCAL = ("file:", "data:", "blob:")
EVIL = (
    '"><img src=http://evil.example/x onerror="document.title=1"></script><script>document.title=2</script>'
)

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine"),
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield running
        running.close()


class Opened:
    """A report as it was opened, with what went wrong."""

    def __init__(self, browser: Any, file: Path, **how: Any) -> None:
        self.faults: list[str] = []
        self.abroad: list[str] = []
        self.page = browser.new_page(**how)
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("console", lambda said: self.faults.append(said.text) if said.type == "error" else None)
        self.page.on(
            "request", lambda asked: None if asked.url.startswith(LOCAL) else self.abroad.append(asked.url)
        )
        self.page.goto(file.as_uri())


def written(runs: Path, samples: Any, report: Any, **more: Any) -> Path:
    run = samples.store(runs, "a", report=report, steps=samples.step_table(), **more)
    file = runs.parent / "a.html"
    target(file).write(contents(open_run(run)))
    return file


@pytest.mark.parametrize(("scheme", "ground"), [("light", "rgb(255, 255, 255)"), ("dark", "rgb(23, 22, 20)")])
def test_charts_are_drawn_on_either_ground_and_nothing_is_fetched(
    browser: Any, runs: Path, samples: Any, everything: Any, scheme: str, ground: str
) -> None:
    opened = Opened(browser, written(runs, samples, everything), color_scheme=scheme)
    page = opened.page
    page.wait_for_selector("html[data-drawn]", timeout=60_000)
    assert page.locator("figure .main-svg").first.is_visible()
    assert page.locator("figure.drawn").count() == page.locator("figure").count() > 8
    assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") == ground
    ink = page.evaluate("getComputedStyle(document.querySelector('.xtick text')).fill")
    assert ink == page.evaluate("getComputedStyle(document.body).color")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert (opened.faults, opened.abroad) == ([], [])
    page.close()


def test_on_paper_it_is_light_and_fits(browser: Any, runs: Path, samples: Any, everything: Any) -> None:
    opened = Opened(browser, written(runs, samples, everything), color_scheme="dark")
    page = opened.page
    page.wait_for_selector("html[data-drawn]", timeout=60_000)
    page.evaluate(
        "addEventListener('beforeprint', () => { window.seen = [...document.querySelectorAll('.main-svg')]"
        ".map((svg) => svg.clientWidth).concat(document.querySelectorAll('details:not([open])').length) })"
    )
    assert page.pdf(format="A4").startswith(b"%PDF")
    *widths, folded = page.evaluate("window.seen")
    assert set(widths) == {680}
    assert folded == 0
    assert page.locator("details[open]").count() == 0
    page.close()


def test_without_scripts_the_words_are_there(browser: Any, runs: Path, samples: Any, everything: Any) -> None:
    opened = Opened(browser, written(runs, samples, everything), java_script_enabled=False)
    assert opened.page.get_by_text("Bar of the mean step by stage: data wait 60.0 ms (60 %)").is_visible()
    assert opened.page.locator(".stages .bar").first.is_visible()
    opened.page.close()


def test_a_hostile_run_does_nothing(
    browser: Any, runs: Path, samples: Any, everything: Any, poisoned: Any
) -> None:
    kept = samples.manifest("a", note=EVIL).model_copy(update={"command": ["python", f"{EVIL}.py"]})
    opened = Opened(browser, written(runs, samples, poisoned(everything, EVIL), kept=kept))
    page = opened.page
    page.wait_for_selector("html[data-drawn]", timeout=60_000)
    assert page.title() not in ("1", "2")
    assert page.locator("img, iframe, object, embed, form").count() == 0
    assert page.locator("a[href]:not([href^='#'])").count() == 0
    assert page.locator("svg a").count() == 0
    assert (opened.faults, opened.abroad) == ([], [])
    page.close()
