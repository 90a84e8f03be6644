"""Who may start commands from the browser: whoever is on this machine, or who was given the link with the token.

The server's bind address and token come by environment from `serve`; a page started in any other way may start
nothing. This module decides only; it starts nothing itself.
"""

from __future__ import annotations

import hmac
import ipaddress
import secrets
from collections.abc import Mapping

ADDRESS_VARIABLE = "TRAINRX_UI_ADDRESS"
TOKEN_VARIABLE = "TRAINRX_UI_TOKEN"
#: The name of the token in a link.
TOKEN_PARAMETER = "token"
_TOKEN_BYTES = 24


def new_token() -> str:
    """A token that cannot be guessed; one per server."""
    return secrets.token_urlsafe(_TOKEN_BYTES)


def is_loopback(address: str) -> bool:
    """Whether an address, or ``localhost``, can be reached from this machine only."""
    if address == "localhost":
        return True
    try:
        return ipaddress.ip_address(address.strip("[]")).is_loopback
    except ValueError:
        return False


def why_not(environment: Mapping[str, str], *, host: str | None, token: str | None) -> str | None:
    """Why this request may not start a command; None where it may.

    Args:
        environment: of the server's process.
        host: the request's ``Host`` header; a foreign name on a loopback server is another site's page that got here
            by a changed name server.
        token: what the request brought along.
    """
    expected = environment.get(TOKEN_VARIABLE)
    if expected:
        if token is not None and hmac.compare_digest(token.encode(), expected.encode()):
            return None
        return "commands can be started from the link with the token only, which `trainrx ui --allow-run` printed"
    if not is_loopback(environment.get(ADDRESS_VARIABLE, "")):
        return (
            "this dashboard can be reached from other machines, so it starts no commands: start it with "
            "`trainrx ui --allow-run` and open the link that it prints"
        )
    if host is None or not is_loopback(_without_port(host)):
        return "this request came under a foreign host name: open the dashboard as http://127.0.0.1"
    return None


def _without_port(host: str) -> str:
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdigit() else host
