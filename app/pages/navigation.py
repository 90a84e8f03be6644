"""The dashboard's entry script, run by ``trainrx ui``: it lays out the pages, one line each, and keeps a link's token.

It lies beside the pages, not above them: Streamlit would lay out a folder called ``pages`` by itself.
"""

from pathlib import Path

import streamlit as st

from trainrx.app.pages.parts.token import remember_token

PAGES = Path(__file__).parent
#: A pulse in the product's blue, drawn here because icons by name are fetched from the network.
ICON = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="none" stroke="#3f86d6"
stroke-width="2.6" stroke-linecap="round" stroke-linejoin="round"><path d="M2 13h4l3-9 5 17 3-8h5"/></svg>"""

st.set_page_config(page_title="trainrx", page_icon=ICON, layout="wide")
remember_token()
st.navigation(
    [
        st.Page(PAGES / "runs.py", title="Runs", icon=":material/list:", default=True),
        st.Page(
            PAGES / "diagnosis.py", title="Diagnosis", icon=":material/stethoscope:", url_path="diagnosis"
        ),
        st.Page(PAGES / "advice.py", title="Advice", icon=":material/healing:", url_path="advice"),
        st.Page(PAGES / "trials.py", title="Trials", icon=":material/science:", url_path="trials"),
        st.Page(PAGES / "compare.py", title="Compare", icon=":material/compare_arrows:", url_path="compare"),
        st.Page(PAGES / "catalog.py", title="Methods", icon=":material/menu_book:", url_path="methods"),
    ],
    position="top",
).run()
