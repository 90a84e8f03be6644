"""Starts Streamlit for the dashboard, on the loopback address unless told otherwise, and leaves no process behind.

What pages may start commands is decided by `permission`, from the address and the token that are passed on here.
"""

from __future__ import annotations

import errno
import ipaddress
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
from .permission import ADDRESS_VARIABLE, TOKEN_PARAMETER, TOKEN_VARIABLE, is_loopback

ADDRESS = "127.0.0.1"
#: What a browser on this machine calls it.
LOOPBACK_NAMES = (ADDRESS, "localhost", "::1")
#: Addresses that stand for all of a machine's own.
EVERYWHERE = ("0.0.0.0", "::")
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
    bind: str = ADDRESS,
    token: str | None = None,
    tell: Callable[[str], None] = lambda url: None,
) -> int:
    """Run the dashboard until it is stopped; returns its exit code, 0 when it was stopped by the user.

    Args:
        runs: the folder that holds the runs.
        port: None takes 8501 or the next free one.
        open_browser: open a browser window once the dashboard answers.
        page: the page to open, by its URL path; the list of runs if empty.
        query: query parameters of that page.
        bind: the address to listen on; one that other machines can reach shows runs to everybody there.
        token: what a request must bring to start commands; it is part of the URL that is told.
        tell: called with the URL once the dashboard answers.

    Raises:
        UsageError: the port is taken, or ``bind`` is no address of this machine.
    """
    bind = checked_address(bind)
    port = free_port(bind=bind) if port is None else checked_port(port, bind=bind)
    process = subprocess.Popen(
        _command(port, bind), env=environment(runs, bind=bind, token=token), stdout=subprocess.DEVNULL
    )
    stopped = _stop_with_us(process)
    url = address(
        port, bind=bind, page=page, query={**(query or {}), **({TOKEN_PARAMETER: token} if token else {})}
    )
    threading.Thread(
        target=_announce, args=(process, (bind, port), url, open_browser, tell), daemon=True
    ).start()
    code = _wait(process, stopped)
    return 0 if stopped.is_set() else code


def environment(runs: Path, *, bind: str, token: str | None) -> dict[str, str]:
    """What the pages are told: where the runs lie, who can reach them, and what starts commands."""
    kept = {name: value for name, value in os.environ.items() if name != TOKEN_VARIABLE}
    told = {RUNS_VARIABLE: str(runs.resolve()), ADDRESS_VARIABLE: bind}
    return {**kept, **told, **({TOKEN_VARIABLE: token} if token else {})}


def address(port: int, *, bind: str = ADDRESS, page: str = "", query: Mapping[str, str] | None = None) -> str:
    """The URL of a page; a server that listens everywhere is named by its machine."""
    host = socket.gethostname() if bind in EVERYWHERE else f"[{bind}]" if ":" in bind else bind
    return f"http://{host}:{port}/{page}" + (f"?{urlencode(query)}" if query else "")


def checked_address(bind: str) -> str:
    """``bind``, if it is an address.

    Raises:
        UsageError: it is none.
    """
    try:
        return bind if bind == "localhost" else str(ipaddress.ip_address(bind))
    except ValueError:
        raise UsageError(
            f"--address {bind} is not a valid IP address: give one like 127.0.0.1 or 0.0.0.0"
        ) from None


def free_port(first: int = FIRST_PORT, *, bind: str = ADDRESS) -> int:
    """The first port from ``first`` on that nothing listens on.

    Raises:
        UsageError: a long row of ports is taken, or the address cannot be listened on.
    """
    for port in range(first, first + PORTS_TRIED):
        if _is_free(port, bind):
            return port
    raise UsageError(
        f"the ports {first} to {first + PORTS_TRIED - 1} are all taken: name a free one with --port"
    )


def checked_port(port: int, *, bind: str = ADDRESS) -> int:
    """``port``, if nothing listens on it.

    Raises:
        UsageError: it is taken or no port number, or the address cannot be listened on.
    """
    if not 1 <= port <= 65535:
        raise UsageError(f"--port {port} is not a valid port: it must lie between 1 and 65535")
    if not _is_free(port, bind):
        raise UsageError(f"port {port} on {bind} is taken: leave --port out, or name another one")
    return port


def _is_free(port: int, bind: str) -> bool:
    with _probe(bind) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((bind, port))
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                return False
            raise UsageError(f"cannot listen on {bind}, port {port}: {error.strerror or error}") from None
    return True


def _probe(bind: str) -> socket.socket:
    return socket.socket(socket.AF_INET6 if ":" in bind else socket.AF_INET)


def _command(port: int, bind: str = ADDRESS) -> list[str]:
    """Streamlit with every setting that guards the dashboard: a flag outweighs any ``config.toml`` and variable."""
    settings = {
        "server.address": bind,
        "server.port": port,
        "server.baseUrlPath": "",
        "server.enableCORS": "true",
        "server.enableXsrfProtection": "true",
        "server.headless": "true",
        "server.fileWatcherType": "none",
        "browser.gatherUsageStats": "false",
        "client.toolbarMode": "minimal",
        **{f"theme.{name}": value for name, value in _THEME.items()},
    }
    script = str(Path(__file__).with_name("pages") / "navigation.py")
    flags = [f"--{name}={value}" for name, value in settings.items()]
    return [sys.executable, "-m", "streamlit", "run", script, *flags, *_loopback_flags(port, bind)]


def _loopback_flags(port: int, bind: str) -> list[str]:
    """On loopback, no name that a foreign name server points here, and no other site's page, gets an answer."""
    if not is_loopback(bind):
        return []
    names = dict.fromkeys((bind, *LOOPBACK_NAMES))
    origin = address(port, bind=bind).rstrip("/")
    return [f"--server.corsAllowedOrigins={origin}", *(f"--server.allowedHosts={name}" for name in names)]


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
    process: subprocess.Popen[bytes],
    server: tuple[str, int],
    url: str,
    open_browser: bool,
    tell: Callable[[str], None],
) -> None:
    """Tell the URL, and open it, as soon as the server listens."""
    deadline = time.monotonic() + STARTING_S
    while process.poll() is None and time.monotonic() < deadline:
        with _probe(server[0]) as probe:
            probe.settimeout(0.5)
            if probe.connect_ex(server) == 0:
                break
        time.sleep(0.1)
    else:
        return
    tell(url)
    if open_browser:
        webbrowser.open(url)
