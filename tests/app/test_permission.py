"""Who may start commands: this machine on a loopback server, else whoever has the token; both ways, and without."""

from __future__ import annotations

import pytest

from trainrx.app.permission import ADDRESS_VARIABLE, TOKEN_VARIABLE, is_loopback, new_token, why_not

LOOPBACK = {ADDRESS_VARIABLE: "127.0.0.1"}
OPEN = {ADDRESS_VARIABLE: "0.0.0.0"}


@pytest.mark.parametrize("host", ["127.0.0.1:8501", "localhost:8501", "[::1]:8501", "127.0.0.1"])
def test_on_a_loopback_server_this_machine_may(host: str) -> None:
    assert why_not(LOOPBACK, host=host, token=None) is None


@pytest.mark.parametrize("host", ["evil.example:8501", "10.0.0.7:8501", "127.0.0.1.evil.example", "", None])
def test_a_foreign_host_name_may_not(host: str | None) -> None:
    assert "foreign host name" in (why_not(LOOPBACK, host=host, token=None) or "")


@pytest.mark.parametrize(
    "environment", [OPEN, {ADDRESS_VARIABLE: "192.168.1.5"}, {ADDRESS_VARIABLE: "::"}, {}]
)
@pytest.mark.parametrize("token", [None, "", "guessed"])
def test_a_server_that_others_reach_starts_nothing_without_a_token_of_its_own(
    environment: dict[str, str], token: str | None
) -> None:
    assert "--allow-run" in (why_not(environment, host="127.0.0.1:8501", token=token) or "")


@pytest.mark.parametrize("environment", [OPEN, LOOPBACK])
def test_with_a_token_only_the_link_may(environment: dict[str, str]) -> None:
    token = new_token()
    served = {**environment, TOKEN_VARIABLE: token}
    assert why_not(served, host="cluster:8501", token=token) is None
    for wrong in (None, "", token[:-1], token + "x", "ünïcode"):
        assert "the link with the token" in (why_not(served, host="127.0.0.1:8501", token=wrong) or "")


def test_tokens_are_long_and_differ() -> None:
    assert new_token() != new_token()
    assert len(new_token()) >= 32


@pytest.mark.parametrize("address", ["127.0.0.1", "127.1.2.3", "::1", "[::1]", "localhost"])
def test_loopback_addresses(address: str) -> None:
    assert is_loopback(address)


@pytest.mark.parametrize(
    "address", ["0.0.0.0", "::", "10.0.0.1", "example.org", "", "127.0.0.1x", "localhost.evil"]
)
def test_other_addresses(address: str) -> None:
    assert not is_loopback(address)
