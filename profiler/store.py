"""The run folder: where everything about one run lies, as plain files.

``run.json`` says what was run and how it ended; ``ranks/<n>/`` holds what the agent wrote; ``report.json`` and
``steps.parquet`` are the analysis. A folder is safe to copy; nothing in it points outside.
"""

from __future__ import annotations

import os
import re
import secrets
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, ValidationError

from .errors import InputError, UsageError
from .report import SCHEMA_VERSION, Report, parse_report
from .same_process import is_same_process
from .vocabulary import RunStatus, Stage

if TYPE_CHECKING:
    import pandas as pd

    from .arrow import Columns

MANIFEST_FILE = "run.json"
REPORT_FILE = "report.json"
STEPS_FILE = "steps.parquet"
#: Space kept from the beginning, so that a script that fills the disk still gets its report.
RESERVE_FILE = ".reserve"
RESERVE_BYTES = 512 * 1024
MAX_JSON_BYTES = 64 * 1024 * 1024
_STAMP = re.compile(r"\d{8}-\d{6}(?=-)")


class Manifest(BaseModel):
    """``run.json``: what was run, by which recorder process, and how it ended."""

    model_config = ConfigDict(extra="ignore")

    schema_version: int = SCHEMA_VERSION
    id: str
    command: list[str]
    cwd: str
    started: str
    status: RunStatus
    exit_code: int | None = None
    launcher_pid: int | None = None
    launcher_started: float | None = None
    options: dict[str, Any] = {}
    versions: dict[str, str] = {}
    git: dict[str, Any] = {}
    note: str | None = None
    sources: dict[str, str] = {}


class RunFolder:
    """One run on disk."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def manifest(self) -> Manifest:
        """``run.json``, with a run whose recorder is gone shown as lost.

        Raises:
            InputError: there is none, it is damaged, or a newer trainrx wrote it.
        """
        text = _read(self.path / MANIFEST_FILE)
        try:
            manifest = Manifest.model_validate_json(text)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            place = ".".join(str(part) for part in first["loc"]) or "the file"
            raise InputError(f"{self.path / MANIFEST_FILE} is damaged: {place}: {first['msg']}") from None
        if manifest.schema_version > SCHEMA_VERSION:
            raise InputError(
                f"{self.path} was written by a newer trainrx (schema {manifest.schema_version}; this one reads up to "
                f"{SCHEMA_VERSION}): upgrade trainrx to open it"
            )
        recorder = manifest.launcher_pid, manifest.launcher_started
        if manifest.status is RunStatus.RECORDING and not is_same_process(*recorder):
            return manifest.model_copy(update={"status": RunStatus.LOST})
        return manifest

    def write_manifest(self, manifest: Manifest) -> None:
        """Replace ``run.json`` in one piece."""
        _write(self.path / MANIFEST_FILE, manifest.model_dump_json(indent=1))

    def release_reserve(self) -> None:
        """Give the space up that was kept for the end of the run."""
        (self.path / RESERVE_FILE).unlink(missing_ok=True)

    def report(self) -> Report:
        """The stored report.

        Raises:
            InputError: there is none, it is damaged, or a newer trainrx wrote it.
        """
        path = self.path / REPORT_FILE
        return parse_report(_read(path), source=str(path))

    def write_report(self, report: Report) -> None:
        """Replace ``report.json`` in one piece."""
        _write(self.path / REPORT_FILE, report.to_json())

    def steps(self) -> pd.DataFrame | None:
        """The steps of the first rank, one row each; None where the run has no step table.

        Columns: ``step, start_s, duration_s, phase`` (warmup, timed, traced), ``outlier``, the seconds of each stage by
        its name, and ``fetches`` where the recorder was there.

        Raises:
            InputError: it is damaged, or a column is missing or not of numbers.
        """
        import pandas as pd

        path = self.path / STEPS_FILE
        if not path.is_file():
            return None
        try:
            steps = pd.read_parquet(path)
        except (OSError, ValueError) as error:
            raise InputError(f"{path} is damaged: {error}") from None
        return _checked(steps, path)

    def write_steps(self, steps: Columns) -> None:
        """Replace the step table in one piece: columns as in `steps`, each of shape (steps,).

        Raises:
            UsageError: the folder cannot be written.
        """
        from pyarrow import parquet

        from .arrow import to_table

        path = self.path / STEPS_FILE
        temporary = path.with_name(path.name + ".part")
        try:
            parquet.write_table(to_table(steps), temporary)
            temporary.replace(path)
        except OSError as error:
            raise _unwritable(path, error) from None


def create_run(runs_dir: Path, *, name: str) -> RunFolder:
    """Make the folder of a new run, named by date, time and ``name``.

    Raises:
        UsageError: the folder cannot be written.
    """
    stamp = datetime.now(timezone.utc).strftime("%Y%m%d-%H%M%S")  # `_STAMP`
    path = runs_dir / f"{stamp}-{_slug(name)}-{secrets.token_hex(2)}"
    try:
        path.mkdir(parents=True)
        (path / RESERVE_FILE).write_bytes(b"0" * RESERVE_BYTES)
    except OSError as error:
        raise UsageError(
            f"cannot write the run folder {path}: {error.strerror}: choose another place with --runs DIR"
        ) from None
    return RunFolder(path)


def list_runs(runs_dir: Path) -> list[RunFolder]:
    """The runs in a folder, newest first; an empty list where the folder does not exist."""
    if not runs_dir.is_dir():
        return []
    found = [RunFolder(path.parent) for path in runs_dir.glob(f"*/{MANIFEST_FILE}")]
    return sorted(found, key=lambda run: (_started(run), run.path.name), reverse=True)


def _started(run: RunFolder) -> str:
    """When a run was started, as ``20261231235959``: by its folder's name, else by what it says; else empty."""
    stamp = _STAMP.match(run.path.name)
    try:
        told = run.manifest.started if stamp is None else stamp.group()
    except InputError:
        told = ""
    return re.sub(r"\D", "", told)[:14]


def find_run(name: str, runs_dir: Path) -> RunFolder:
    """A run by its folder, its id, the beginning of its id, or ``last``.

    Raises:
        InputError: no run, or more than one, is called so.
    """
    if os.path.isfile(os.path.join(name, MANIFEST_FILE)):  # noqa: PTH113, PTH118  # any text is a question, none an error
        return RunFolder(Path(name))
    runs = list_runs(runs_dir)
    if name == "last" and runs:
        return runs[0]
    named = [run for run in runs if run.path.name == name]
    matching = named or [run for run in runs if run.path.name.startswith(name)]
    if len(matching) == 1:
        return matching[0]
    if matching:
        raise InputError(f"{len(matching)} runs in {runs_dir} begin with {name}: give more of the id")
    known = (
        f"the newest is {runs[0].path.name}"
        if runs
        else "there is none yet: record one with `trainrx profile`, or look at `trainrx samples`"
    )
    raise InputError(f"no run called {name} in {runs_dir}: {known}")


def _checked(steps: pd.DataFrame, path: Path) -> pd.DataFrame:
    """The step table, if those who draw and compare can rely on its columns."""
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    numbers = {"step", "duration_s", *(stage.value for stage in Stage if stage.value in steps)}
    needed = numbers | {"phase", "outlier"}
    missing = sorted(needed - set(steps.columns))
    wrong = [name for name in sorted(numbers - set(missing)) if not is_numeric_dtype(steps[name])]
    if "outlier" not in missing and not is_bool_dtype(steps["outlier"]):
        wrong.append("outlier")
    if missing or wrong or steps[sorted(needed)].isna().to_numpy().any():
        said = [f"it has no column {name}" for name in missing] + [
            f"{name} is of a wrong type" for name in wrong
        ]
        raise InputError(f"{path} is damaged: {'; '.join(said) or 'it has empty cells'}")
    return steps


def _read(path: Path) -> bytes:
    try:
        if path.stat().st_size > MAX_JSON_BYTES:
            raise InputError(f"{path} is larger than {MAX_JSON_BYTES >> 20} MB, which no file of a run is")
        return path.read_bytes()
    except FileNotFoundError:
        raise InputError(f"{path} does not exist: the run is damaged or was never recorded") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None


def _write(path: Path, text: str) -> None:
    temporary = path.with_name(path.name + ".part")
    try:
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(path)
    except OSError as error:
        raise _unwritable(path, error) from None


def _unwritable(path: Path, error: OSError) -> UsageError:
    reason = error.strerror or str(error)
    return UsageError(
        f"cannot write {path}: {reason}: free its disk; `trainrx show` then reads what was recorded"
    )


def _slug(name: str) -> str:
    slug = "".join(character if character.isalnum() else "-" for character in name.lower()).strip("-")
    return slug[:40] or "run"
