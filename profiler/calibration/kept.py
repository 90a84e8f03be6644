"""Keeps the ceilings in the user's cache, under the machine and the torch that they hold for."""

from __future__ import annotations

import hashlib
import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from platformdirs import user_cache_path
from pydantic import ValidationError

from ..agent import cores
from .ceilings import SCHEMA_VERSION, Ceilings

#: Overrides the folder, for tests and for machines whose home is read-only.
FOLDER_VARIABLE = "TRAINRX_CALIBRATION"
MAX_BYTES = 1024 * 1024


def machine() -> str:
    """What tells this machine from others of other speed: processor, usable cores, host."""
    return f"{_processor()}, {usable_cores()} cores, {platform.node()}"


def machine_key() -> str:
    """The machine as a short digest, so that a run's folder tells whether it was recorded here and no name."""
    return hashlib.sha256(machine().encode()).hexdigest()[:16]


def usable_cores() -> int:
    """The cores this process may keep busy, its container's limit included."""
    return cores.usable() or 1


def installed_torch() -> str | None:
    """The version of torch, without importing it; None where there is none."""
    try:
        return version("torch")
    except PackageNotFoundError:
        return None


def kept_ceilings() -> Ceilings | None:
    """What was measured on this machine with this torch; None where nothing was, or the file is damaged."""
    path = _path()
    try:
        if path.stat().st_size > MAX_BYTES:
            return None
        found = Ceilings.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return None
    return found if found.schema_version == SCHEMA_VERSION and found.machine == machine() else None


def keep(ceilings: Ceilings) -> Path | None:
    """Write the ceilings down; None where the cache cannot be written, which is no fault of theirs."""
    path = _path()
    temporary = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_text(ceilings.model_dump_json(indent=1), encoding="utf-8")
        temporary.replace(path)
    except OSError:
        return None
    return path


def _path() -> Path:
    told = os.environ.get(FOLDER_VARIABLE)
    folder = Path(told) if told else user_cache_path("trainrx") / "calibration"
    key = hashlib.sha256(f"{machine()} torch {installed_torch()}".encode()).hexdigest()[:16]
    return folder / f"{key}.json"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    name = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), None)
    return name or platform.processor() or platform.machine()
