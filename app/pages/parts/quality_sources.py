"""Which trainings the compare page holds side by side: stored and uploaded metric files, and their labels."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import pandas as pd
import streamlit as st

from trainrx.advisor.compare.labels import MAX_LABEL, Label, label_of
from trainrx.advisor.compare.methods import Source
from trainrx.app.curve_files import CURVES_FOLDER, stored_files, stored_source
from trainrx.app.pages.parts import cards
from trainrx.app.pages.parts.stored import runs_dir
from trainrx.profiler.errors import TrainrxError
from trainrx.profiler.ingest.metric_table import LIMIT_BYTES, SUFFIXES, MetricTable, parse_metric_table

MAX_UPLOADS = 100


class Upload(Protocol):
    """An uploaded file."""

    name: str

    def getvalue(self) -> bytes:
        """Its content."""
        ...


def chosen() -> list[Source]:
    """The trainings from boxes, with the labels that were put right."""
    stored = {path.relative_to(runs_dir()).as_posix(): path for path in _stored_files()}
    with st.expander("Trainings", expanded=not stored, icon=":material/folder_open:"):
        picked = (
            st.multiselect(
                "Metric files beside the runs", list(stored), default=_at_first(list(stored)), key="files"
            )
            if stored
            else []
        )
        uploads = st.file_uploader(
            "Add metric files: CSV, JSON lines, Lightning's metrics.csv, Transformers' trainer_state.json",
            type=[suffix[1:] for suffix in SUFFIXES],
            accept_multiple_files=True,
            max_upload_size=LIMIT_BYTES >> 20,
            key="uploads",
        )
        found = _read([stored[name] for name in picked], list(uploads or [])[:MAX_UPLOADS])
        return _labelled(found) if found else []


def _at_first(names: list[str]) -> list[str]:
    """What is compared until something is chosen: what was put beside the runs for this, else all."""
    return [name for name in names if name.startswith(f"{CURVES_FOLDER}/")] or names


def _stored_files() -> list[Path]:
    try:
        return stored_files(runs_dir())
    except (TrainrxError, OSError) as error:
        st.html(cards.warnings([str(error)]))
        return []


def _read(paths: Sequence[Path], uploads: Sequence[Upload]) -> list[Source]:
    """What can be read; of the rest one sentence each."""
    found: list[Source] = []
    refused: list[str] = []
    for path in paths:
        try:
            stat = path.stat()
            found.append(_stored(path, runs_dir(), stat.st_mtime_ns, stat.st_size))
        except (TrainrxError, OSError) as error:
            refused.append(str(error))
    for upload in uploads:
        try:
            content = upload.getvalue()
            table = _parsed(upload.name, hashlib.sha256(content).hexdigest(), content)
            found.append(Source(label_of(upload.name), table))
        except TrainrxError as error:
            refused.append(str(error))
    if refused:
        st.html(cards.warnings(refused))
    return found


@st.cache_resource(max_entries=400, show_spinner=False)
def _stored(path: Path, runs: Path, changed_ns: int, size_bytes: int) -> Source:
    return stored_source(path, runs)


@st.cache_resource(max_entries=100, show_spinner=False)
def _parsed(name: str, digest: str, _content: bytes) -> MetricTable:
    return parse_metric_table(_content, source=name)


def _labelled(sources: Sequence[Source]) -> list[Source]:
    """The trainings with method and seed as the table below the boxes has them."""
    rows = pd.DataFrame(
        {
            "file": [source.table.source.rpartition("/")[2] for source in sources],
            "method": [source.label.method for source in sources],
            "seed": pd.array([source.label.seed for source in sources], dtype="Int64"),
        }
    )
    names = hashlib.sha256("\n".join(source.table.source for source in sources).encode()).hexdigest()[:12]
    edited = st.data_editor(
        rows,
        hide_index=True,
        disabled=["file"],
        key=f"labels-{names}",
        alt="Method and seed of each training, to be put right where names do not tell",
        column_config={
            "method": st.column_config.TextColumn(required=True, max_chars=MAX_LABEL),
            "seed": st.column_config.NumberColumn(min_value=0, step=1),
        },
    )
    return [
        Source(_edited(source.label, method, seed), source.table, source.hardware)
        for source, method, seed in zip(
            sources, edited["method"].tolist(), edited["seed"].tolist(), strict=True
        )
    ]


def _edited(label: Label, method: object, seed: object) -> Label:
    told = str(method).strip()[:MAX_LABEL] if isinstance(method, str) else ""
    return Label(told or label.method, int(seed) if isinstance(seed, int) else None, label.budget)
