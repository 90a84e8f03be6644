"""The token of a `trainrx ui --allow-run` link, kept for the browser session that brought it."""

from __future__ import annotations

import streamlit as st

from trainrx.app.permission import TOKEN_PARAMETER


def remember_token() -> None:
    """Keep the link's token for this session, and take it out of the address, which people pass on."""
    token = st.query_params.get(TOKEN_PARAMETER)
    if token:
        st.session_state[TOKEN_PARAMETER] = token
        del st.query_params[TOKEN_PARAMETER]


def session_token() -> str | None:
    """The token that this session came with."""
    return st.session_state.get(TOKEN_PARAMETER)
