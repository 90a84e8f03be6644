"""The dashboard's entry script, run by ``trainrx ui``: it only lays out the pages."""

from pathlib import Path

import streamlit as st

PAGES = Path(__file__).parent / "pages"

st.set_page_config(page_title="trainrx", page_icon=":material/speed:", layout="wide")
st.navigation(
    [
        st.Page(PAGES / "runs.py", title="Runs", icon=":material/list:", default=True),
        st.Page(
            PAGES / "diagnosis.py", title="Diagnosis", icon=":material/stethoscope:", url_path="diagnosis"
        ),
        st.Page(PAGES / "catalog.py", title="Methods", icon=":material/menu_book:", url_path="methods"),
    ],
    position="top",
).run()
