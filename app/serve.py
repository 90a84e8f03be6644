"""Starts Streamlit for the dashboard, bound to the loopback address only, and leaves no process behind."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
import webbrowser
from collections.abc import Callable, Mapping
from pathlib import Path
from types import FrameType
from urllib.parse import urlencode

from ..profiler.errors import UsageError

ADDRESS = "127.0.0.1"
FIRST_PORT = 8501
PORTS_TRIED = 50
RUNS_VARIABLE = "TRAINRX_RUNS"
STARTING_S = 60.0
STOPPING_S = 5.0
POLL_S = 0.5

#: Headings that leave room for numbers, and blue in place of Streamlit's red, which reads as an alarm.
_THEME = {
    "light.primaryColor": "#2f6fb7",
    "dark.primaryColor": "#56a0ea",
    "paddingTop": "1rem",
    "headingFontSizes": '["1.9rem", "1.5rem", "1.3rem"]',
}


def serve(
    runs: Path,
    *,
    port: int | None = None,
    open_browser: bool = True,
    page: str = "",
    query: Mapping[str, str] | None = None,
    tell: Callable[[str], None] = lambda url: None,
) -> int:
    """Run the dashboard until it is stopped; returns its exit code, 0 when it was stopped by the user.

    Args:
        runs: the folder that holds the runs.
        port: on 127.0.0.1; None takes 8501 or the next free one.
        open_browser: open a browser window once the dashboard answers.
        page: the page to open, by its URL path; the list of runs if empty.
        query: query parameters of that page.
        tell: called with the URL once the dashboard answers.

    Raises:
        UsageError: the port is taken.
    """
    port = free_port() if port is None else checked_port(port)
    process = subprocess.Popen(
        _command(port),
        env=dict(os.environ, **{RUNS_VARIABLE: str(runs.resolve())}),
        stdout=subprocess.DEVNULL,
    )
    stopped = _stop_with_us(process)
    url = address(port, page=page, query=query)
    threading.Thread(target=_announce, args=(process, port, url, open_browser, tell), daemon=True).start()
    code = _wait(process, stopped)
    return 0 if stopped.is_set() else code


def address(port: int, *, page: str = "", query: Mapping[str, str] | None = None) -> str:
    """The URL of a page."""
    return f"http://{ADDRESS}:{port}/{page}" + (f"?{urlencode(query)}" if query else "")


def free_port(first: int = FIRST_PORT) -> int:
    """The first port from ``first`` on that nothing listens on.

    Raises:
        UsageError: a long row of ports is taken.
    """
    for port in range(first, first + PORTS_TRIED):
        if _is_free(port):
            return port
    raise UsageError(
        f"the ports {first} to {first + PORTS_TRIED - 1} are all taken: name a free one with --port"
    )


def checked_port(port: int) -> int:
    """``port``, if nothing listens on it.

    Raises:
        UsageError: it is taken, or no port number.
    """
    if not 1 <= port <= 65535:
        raise UsageError(f"--port {port} is no port: it must lie between 1 and 65535")
    if not _is_free(port):
        raise UsageError(f"port {port} on {ADDRESS} is taken: leave --port out, or name another one")
    return port


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((ADDRESS, port))
        except OSError:
            return False
    return True


def _command(port: int) -> list[str]:
    settings = {
        "server.address": ADDRESS,
        "server.port": port,
        "server.headless": "true",
        "server.fileWatcherType": "none",
        "browser.gatherUsageStats": "false",
        "client.toolbarMode": "minimal",
        **{f"theme.{name}": value for name, value in _THEME.items()},
    }
    script = str(Path(__file__).with_name("pages") / "navigation.py")
    flags = [f"--{name}={value}" for name, value in settings.items()]
    return [sys.executable, "-m", "streamlit", "run", script, *flags]


def _stop_with_us(process: subprocess.Popen[bytes]) -> threading.Event:
    """Pass a request to end on to Streamlit; the event says that there was one."""
    stopped = threading.Event()

    def stop(number: int, frame: FrameType | None) -> None:
        stopped.set()
        process.terminate()

    signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGTERM, stop)
    return stopped


def _wait(process: subprocess.Popen[bytes], stopped: threading.Event) -> int:
    """Wait for Streamlit to end; once it was asked to, not longer than it may take."""
    while process.poll() is None and not stopped.wait(POLL_S):
        pass
    try:
        return process.wait(timeout=STOPPING_S)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()


def _announce(
    process: subprocess.Popen[bytes], port: int, url: str, open_browser: bool, tell: Callable[[str], None]
) -> None:
    """Tell the URL, and open it, as soon as the server listens."""
    deadline = time.monotonic() + STARTING_S
    while process.poll() is None and time.monotonic() < deadline:
        with socket.socket() as probe:
            probe.settimeout(0.5)
            if probe.connect_ex((ADDRESS, port)) == 0:
                break
        time.sleep(0.1)
    else:
        return
    tell(url)
    if open_browser:
        webbrowser.open(url)
