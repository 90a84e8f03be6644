"""Finds metric files and says whose training each tells of: single files, folders of them, run folders that hold some.

What is searched stays inside the folder that was named: links are not followed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePath

from ..advisor.compare.labels import Label, label_of, told_label
from ..advisor.compare.methods import Source
from ..advisor.compare.quality_cost import MAX_RUNS
from ..profiler.errors import InputError, UsageError
from ..profiler.ingest.metric_table import SUFFIXES, read_metric_table
from ..profiler.store import MANIFEST_FILE, REPORT_FILE, Manifest, RunFolder, find_run, list_runs

#: Beside the runs, the folder whose metric files are compared where none are named.
CURVES_FOLDER = "curves"
MAX_DEPTH = 5
#: Files looked at while searching one folder.
MAX_LOOKED_AT = 20_000
STATE_FILE = "trainer_state.json"
_IN_A_RUN = re.compile(r"metrics.*", re.IGNORECASE)


def named_sources(words: Sequence[str], runs_dir: Path) -> list[Source]:
    """The trainings that a user names: ``FILE``, ``FOLDER`` or ``RUN``, with ``METHOD=`` or ``METHOD:SEED=`` before it.

    Without words, those in the folder ``curves`` beside the runs.

    Raises:
        InputError: nothing is found, or a named file cannot be read.
        UsageError: there are too many, or a label holds no method.
    """
    if not words:
        return folder_sources(_default_folder(runs_dir))
    found: list[Source] = []
    for word in words:
        found += _of_word(word, runs_dir)
        if len(found) > MAX_RUNS:
            raise UsageError(f"up to {MAX_RUNS} metric files can be compared, and these are more: name fewer")
    return found


def folder_sources(folder: Path) -> list[Source]:
    """The trainings in a folder, by name; files in it that are no metric tables are passed over.

    Raises:
        InputError: there is none.
        UsageError: there are too many.
    """
    files, hardware = metric_files(folder), hardware_of(folder)
    found: list[Source] = []
    refused: list[InputError] = []
    for file in files:
        try:
            found.append(Source(_label_in(folder, file), read_metric_table(file), hardware))
        except InputError as error:
            refused.append(error)
    if not found:
        raise (
            refused[0]
            if refused
            else InputError(
                f"{folder} holds no metric file: expected CSV, JSON lines or {STATE_FILE}, one per training, as in "
                "cosine-seed1.csv"
            )
        )
    return found


def metric_files(folder: Path) -> list[Path]:
    """The metric files of a folder, sorted; of a run folder those at its top called ``metrics…``, and in ``metrics/``.

    Raises:
        UsageError: there are more than can be compared.
    """
    found = sorted(_in_run(folder) if _is_run(folder) else _in_folder(folder))
    if len(found) > MAX_RUNS:
        raise UsageError(
            f"{folder} holds {len(found)} metric files, up to {MAX_RUNS} can be compared: name some"
        )
    return found


def stored_files(runs_dir: Path) -> list[Path]:
    """The metric files that lie beside the runs and in them, newest runs first."""
    folders = [runs_dir / CURVES_FOLDER, *(run.path for run in list_runs(runs_dir))]
    found = [file for folder in folders if _is_folder(folder) for file in metric_files(folder)]
    return found[:MAX_RUNS]


def stored_source(file: Path, runs_dir: Path) -> Source:
    """The training that one of the `stored_files` tells of.

    Raises:
        InputError: it cannot be read.
    """
    folder = runs_dir / file.relative_to(runs_dir).parts[0]
    return Source(_label_in(folder, file), read_metric_table(file), hardware_of(folder))


def hardware_of(folder: Path) -> dict[str, object]:
    """What a run's report tells of its machine; empty where the folder is no run or has no report."""
    if not _is_file(folder / REPORT_FILE):
        return {}
    try:
        return dict(RunFolder(folder).report().setup)
    except InputError:
        return {}


def command_label(command: Sequence[str]) -> Label:
    """The label in a training's command: the script with its options, the seed taken out."""
    words = " ".join(PurePath(word).name if "/" in word else word for word in command[1:] or command)
    seed = re.search(r"--?(?:random[-_])?seed[= ](\d{1,9})(?!\S)", words)
    method = words.replace(seed.group(0), "") if seed else words
    return Label(" ".join(method.split())[:60] or "run", int(seed.group(1)) if seed else None)


def _of_word(word: str, runs_dir: Path) -> list[Source]:
    path, label = Path(word), None
    if "=" in word and not (_is_folder(path) or _is_file(path)):
        method, _, rest = word.partition("=")
        path, label = Path(rest), told_label(method)
    found = _of_path(path, runs_dir)
    if label is None:
        return found
    return [_relabelled(source, label, alone=len(found) == 1) for source in found]


def _of_path(path: Path, runs_dir: Path) -> list[Source]:
    if _is_folder(path):
        return folder_sources(path)
    if _is_file(path) or path.suffix:
        return [Source(label_of(str(path)), read_metric_table(path))]
    return folder_sources(find_run(str(path), runs_dir).path)


def _relabelled(source: Source, label: Label, *, alone: bool) -> Source:
    """The method as told; the seed too, unless the label is for several files, which then keep their own."""
    seed = label.seed if alone and label.seed is not None else source.label.seed
    return Source(Label(label.method, seed, source.label.budget), source.table, source.hardware)


def _label_in(folder: Path, file: Path) -> Label:
    if _is_run(folder):
        try:
            return _run_label(RunFolder(folder).manifest, folder)
        except InputError:
            return Label(folder.name)
    return label_of(str(PurePath(folder.resolve().name) / file.relative_to(folder)))


def _is_folder(path: Path) -> bool:
    """Whatever cannot be looked at, for its rights or its length, is none; with Path that is an error."""
    return os.path.isdir(path)  # noqa: PTH112


def _is_file(path: Path) -> bool:
    return os.path.isfile(path)  # noqa: PTH113  # as above


def _is_run(folder: Path) -> bool:
    return _is_file(folder / MANIFEST_FILE)


def _run_label(manifest: Manifest, folder: Path) -> Label:
    return command_label(manifest.command) if manifest.command else Label(folder.name)


def _in_run(folder: Path) -> Iterator[Path]:
    for file in (*folder.glob("*"), *folder.glob("metrics/*")):
        named = file.parent != folder or file.name == STATE_FILE or _IN_A_RUN.fullmatch(file.name)
        if named and _is_metric_file(file):
            yield file


def _in_folder(folder: Path) -> Iterator[Path]:
    states: dict[Label, Path] = {}
    for file in _walk(folder):
        if file.name != STATE_FILE:
            yield file
            continue
        # A trainer writes its whole log again with every checkpoint: the longest holds the others.
        label = _label_in(folder, file)
        other = states.get(label)
        if other is None or file.stat().st_size > other.stat().st_size:
            states[label] = file
    yield from states.values()


def _walk(folder: Path) -> Iterator[Path]:
    waiting, looked_at = [(folder, 1)], 0
    while waiting:
        place, depth = waiting.pop()
        for entry in _entries(place):
            looked_at += 1
            if looked_at > MAX_LOOKED_AT:
                raise UsageError(
                    f"{folder} holds too many files to search: name the folder that holds the metrics"
                )
            if _is_folder(entry) and not entry.is_symlink() and not entry.name.startswith("."):
                if depth < MAX_DEPTH:
                    waiting.append((entry, depth + 1))
            elif _is_metric_file(entry):
                yield entry


def _entries(place: Path) -> list[Path]:
    try:
        return sorted(place.iterdir())
    except OSError as error:
        raise InputError(f"{place} cannot be read: {error.strerror}: name a folder that can") from None


def _is_metric_file(file: Path) -> bool:
    if not _is_file(file) or file.is_symlink() or file.name.startswith("."):
        return False
    suffix = PurePath(file.name.removesuffix(".gz")).suffix.lower()
    return suffix in SUFFIXES and (suffix != ".json" or file.name == STATE_FILE)


def _default_folder(runs_dir: Path) -> Path:
    folder = runs_dir / CURVES_FOLDER
    if not _is_folder(folder):
        raise UsageError(
            "compare --curves needs metric files, one per training, as in `trainrx compare --curves adam-seed1.csv "
            f"lion-seed1.csv`, or such files in {folder}"
        )
    return folder
