"""What the launcher loads beside a training, and after it: memory that the training may need."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

from trainrx.app.bundled import sample_runs

MODULES = "json.dump(sorted(sys.modules), sys.stderr)"


def loaded_by(code: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", f"import json, sys\n{code}\n{MODULES}"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stderr.splitlines()[-1]))


def test_while_a_script_runs_nothing_is_loaded_that_only_its_analysis_needs() -> None:
    loaded = loaded_by("import trainrx.app.recording, trainrx.app.commands.profile")
    assert "trainrx.profiler.launch" in loaded
    unused = {"pandas", "pyarrow", "scipy", "torch", "trainrx.profiler.analysis", "trainrx.advisor"}
    assert not unused & loaded


def test_a_report_is_made_and_kept_without_pandas(tmp_path: Path) -> None:
    # GIVEN a recorded run WHEN it is analysed and stored, as after a training and beside a long one
    run = tmp_path / "run"
    shutil.copytree(sample_runs()[0].path, run)
    (run / "steps.parquet").unlink()
    loaded = loaded_by(
        "from pathlib import Path; from trainrx.app.analysing import store_analysis; "
        f"from trainrx.profiler.store import RunFolder; store_analysis(RunFolder(Path({str(run)!r})))"
    )
    # THEN the step table is there, and nobody needed pandas for it
    assert (run / "steps.parquet").is_file()
    assert not {"pandas", "scipy", "torch"} & loaded
