"""The server's address: loopback only, a free port, a link to a page."""

from __future__ import annotations

import errno
import re
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.web.cli import main_run

from trainrx.app.permission import ADDRESS_VARIABLE, TOKEN_VARIABLE
from trainrx.app.serve import _command, address, checked_address, checked_port, environment, free_port
from trainrx.profiler.errors import UsageError


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        yield holder.getsockname()[1]


def test_a_taken_port_is_passed_over_or_named(taken: int) -> None:
    assert free_port(taken) > taken
    with pytest.raises(UsageError, match=f"port {taken} .* is taken"):
        checked_port(taken)


@pytest.mark.parametrize("port", [0, -1, 70000])
def test_what_is_no_port_is_said(port: int) -> None:
    with pytest.raises(UsageError, match="is not a valid port"):
        checked_port(port)


def test_the_server_is_told_to_listen_on_the_loopback_address_and_to_tell_nobody() -> None:
    command = _command(8501)
    assert "--server.address=127.0.0.1" in command
    assert "--browser.gatherUsageStats=false" in command


@pytest.mark.parametrize("bind", ["127.0.0.1", "::1", "localhost", "0.0.0.0"])
def test_streamlit_knows_every_flag_that_it_is_given(bind: str) -> None:
    _, _, _, _, *words = _command(8501, bind)
    given = main_run.make_context("run", words).params
    assert given["target"].endswith("navigation.py")


@pytest.mark.parametrize("bind", ["127.0.0.1", "0.0.0.0"])
def test_no_config_file_opens_the_dashboard_to_other_sites_or_moves_it(bind: str) -> None:
    _, _, _, _, *words = _command(8501, bind)
    given = main_run.make_context("run", words).params
    assert given["server_enableCORS"] is True
    assert given["server_enableXsrfProtection"] is True
    assert given["server_baseUrlPath"] == ""


def test_on_loopback_no_foreign_host_name_and_no_foreign_origin_is_let_in() -> None:
    command = _command(8501)
    hosts = [flag.partition("=")[2] for flag in command if flag.startswith("--server.allowedHosts=")]
    assert sorted(hosts) == ["127.0.0.1", "::1", "localhost"]
    assert "--server.corsAllowedOrigins=http://127.0.0.1:8501" in command
    assert not [flag for flag in _command(8501, "0.0.0.0") if "allowedHosts" in flag]


def test_only_a_taken_port_is_called_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(self: socket.socket, address: object) -> None:
        raise OSError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(socket.socket, "bind", refused)
    with pytest.raises(UsageError, match=re.escape("cannot listen on 127.0.0.1, port 80: Permission denied")):
        checked_port(80)


def test_a_link_is_quoted() -> None:
    assert address(8501) == "http://127.0.0.1:8501/"
    assert (
        address(8501, page="diagnosis", query={"run": "a b&c"})
        == "http://127.0.0.1:8501/diagnosis?run=a+b%26c"
    )


def test_another_address_is_listened_on_and_named_in_the_link() -> None:
    assert "--server.address=0.0.0.0" in _command(8501, "0.0.0.0")
    assert address(8501, bind="10.0.0.7") == "http://10.0.0.7:8501/"
    assert address(8501, bind="::1") == "http://[::1]:8501/"
    assert (
        address(8501, bind="0.0.0.0", query={"token": "a"}) == f"http://{socket.gethostname()}:8501/?token=a"
    )


@pytest.mark.parametrize("bind", ["example.org", "", "999.0.0.1"])
def test_what_is_no_address_is_said(bind: str) -> None:
    with pytest.raises(UsageError, match="is not a valid IP address"):
        checked_address(bind)


def test_the_pages_are_told_address_and_token_and_no_token_of_another_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(TOKEN_VARIABLE, "of another server")
    told = environment(tmp_path, bind="0.0.0.0", token=None)
    assert (told[ADDRESS_VARIABLE], TOKEN_VARIABLE in told) == ("0.0.0.0", False)
    assert environment(tmp_path, bind="127.0.0.1", token="t")[TOKEN_VARIABLE] == "t"
