"""Changes written into source: at the place that took them, defaults of options respected, all else untouched."""

import json
import subprocess
import sys

import pytest

from trainrx.advisor.trial import patch_check
from trainrx.advisor.trial.arm import KnobEvent
from trainrx.advisor.trial.knob_choice import choose
from trainrx.advisor.trial.patch import write_patch
from trainrx.advisor.trial.patch_rules import RULES
from trainrx.profiler.agent import knobs

SCRIPT = '''\
"""A training script."""
import argparse  # options

import torch
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader

WORKERS = 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-j", "--num-workers", default=0, type=int)  # as many as cores
    args = parser.parse_args()
    torch.set_num_threads(1)
    train = DataLoader(
        data,
        batch_size=32,  # fits
        shuffle=True,
        num_workers=args.num_workers,
    )
    short = DataLoader(data, 32, True, num_workers=WORKERS)
    spread = DataLoader(data, **options)
    model = Net().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for images, labels in train:
        loss = criterion(model(images), labels)
        optimizer.zero_grad(set_to_none=False)
        loss.backward()
    parallel = DDP(model, find_unused_parameters=True)
    torch.autograd.set_detect_anomaly(True)
    with torch.no_grad():
        for images, labels in test:
            model(images)
'''


def line(text):
    return next(number for number, found in enumerate(SCRIPT.splitlines(), 1) if text in found)


@pytest.fixture
def patched(tmp_path):
    """Writes changes into the script; gives changed lines as (gone, new), and the notes."""

    def write(places, *, command=("python", "train.py"), text=SCRIPT):
        path = tmp_path / "train.py"
        path.write_text(text)
        events = [
            KnobEvent(word.partition("=")[0], "applied", "", 1, str(path), where)
            for word, where in places.items()
        ]
        found = write_patch(choose(list(places)), events, root=tmp_path, command=command)
        assert path.read_text() == text
        for changed in found.after.values():
            compile(changed, "train.py", "exec")
        lines = found.diff.splitlines()
        gone = [row[1:].strip() for row in lines if row.startswith("-") and not row.startswith("---")]
        new = [row[1:].strip() for row in lines if row.startswith("+") and not row.startswith("+++")]
        return gone, new, found.notes

    return write


def test_the_default_of_an_option_is_changed_and_not_the_call(patched):
    gone, new, notes = patched({"loader.num_workers=4": line("train = DataLoader(")})
    assert new == ['parser.add_argument("-j", "--num-workers", default=4, type=int)  # as many as cores']
    assert len(gone) == 1 and not notes


def test_an_option_that_the_command_passes_is_told(patched):
    gone, _, notes = patched(
        {"loader.num_workers=4": line("train = DataLoader(")},
        command=("python", "train.py", "--num-workers", "0"),
    )
    assert not gone
    assert "the command line passes --num-workers: pass 4 there" in notes[0]


def test_a_constant_is_changed_where_it_is_set(patched):
    assert patched({"loader.num_workers=4": line("short = DataLoader")})[:2] == (
        ["WORKERS = 0"],
        ["WORKERS = 4"],
    )


def test_new_arguments_follow_the_layout_of_the_call(patched):
    _, new, _ = patched(
        {
            "loader.persistent_workers=true": line("train = DataLoader("),
            "optimizer.fused=true": line("AdamW"),
        }
    )
    assert "persistent_workers=True," in new
    assert "optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)" in new


def test_positional_arguments_are_found(patched):
    _, new, _ = patched({"batch.size=64": line("short = DataLoader")})
    assert new == ["short = DataLoader(data, 64, True, num_workers=WORKERS)"]


def test_unpacked_arguments_are_left_to_the_user(patched):
    gone, new, notes = patched({"loader.num_workers=4": line("spread = DataLoader")})
    assert not gone and not new
    assert "passes unpacked arguments: put num_workers=4 where they are made" in notes[0]


def test_lines_for_models_gradients_and_debugging(patched):
    # GIVEN changes of many kinds at once
    call = line("loss = criterion")
    gone, new, notes = patched(
        {
            "compile.default=true": call, "memory_format.channels_last=true": call, "precision.autocast_bf16=true": call,
            "threads.intraop=2": call, "optimizer.zero_grad_none=true": call + 1,
            "ddp.find_unused_parameters=false": line("DDP(model"), "ddp.comm_hook_bf16=true": line("DDP(model"),
            "debug.off=true": line("set_detect_anomaly"), "eval.inference_mode=true": line("    model(images)"),
            "gc.control=freeze": call, "precision.tf32=true": call,
        }
    )  # fmt: skip

    # THEN each is written where it belongs
    assert "model.compile()" in new and "model.to(memory_format=torch.channels_last)" in new
    assert "loss = criterion(model(images.to(memory_format=torch.channels_last)), labels)" in new
    assert "with torch.autocast('cuda' if torch.cuda.is_available() else 'cpu', dtype=torch.bfloat16):" in new
    assert "torch.set_num_threads(2)" in new and "torch.set_num_threads(1)" in gone
    assert "optimizer.zero_grad(set_to_none=True)" in new
    assert "parallel = DDP(model, find_unused_parameters=False)" in new
    assert "parallel.register_comm_hook(None, default_hooks.bf16_compress_hook)" in new
    assert "torch.autograd.set_detect_anomaly(False)" in new
    assert "with torch.inference_mode():" in new and "with torch.no_grad():" in gone
    assert 'torch.set_float32_matmul_precision("high")' in new

    # AND what has no rule is told in words
    assert notes == ("gc.control=freeze: write it yourself: gc.collect(); gc.freeze()",)


def test_a_bare_sequential_is_compiled_by_its_forward(tmp_path):
    # GIVEN a model whose own compile() would do nothing
    path = tmp_path / "train.py"
    path.write_text(SCRIPT)
    event = KnobEvent(
        "compile.default", "applied", "Sequential is compiled", 1, str(path), line("loss = criterion")
    )
    found = write_patch(choose(["compile.default=true"]), [event], root=tmp_path)
    assert "+    model.forward = torch.compile(model.forward)" in found.diff


def test_the_diff_applies(patched, tmp_path):
    import shutil

    if shutil.which("patch") is None:
        pytest.skip("no patch program here")
    (tmp_path / "train.py").write_text(SCRIPT)
    events = [
        KnobEvent("batch.size", "applied", "", 1, str(tmp_path / "train.py"), line("train = DataLoader("))
    ]
    found = write_patch(choose(["batch.size=64"]), events, root=tmp_path)
    subprocess.run(["patch", "-p1", "-s"], input=found.diff, text=True, cwd=tmp_path, check=True)
    assert (tmp_path / "train.py").read_text() == next(iter(found.after.values()))


def test_files_of_libraries_and_broken_files_are_told(tmp_path):
    # GIVEN a loader made inside a library, and one in a file that is no Python
    (tmp_path / "odd.py").write_text("print 'python 2'\n")
    events = [
        KnobEvent("loader.num_workers", "applied", "", 1, "/usr/lib/python3/site-packages/trainer.py", 7),
        KnobEvent("loader.pin_memory", "applied", "", 1, str(tmp_path / "odd.py"), 1),
    ]

    found = write_patch(choose(["loader.num_workers=2", "loader.pin_memory=true"]), events, root=tmp_path)
    assert found.diff == ""
    assert "outside of" in found.notes[0] and "trainer.py:7" in found.notes[0]
    assert "cannot be edited" in found.notes[1]


def test_rules_are_for_knobs_that_exist():
    assert set(RULES) <= set(knobs.names())


def test_a_script_runs_as_if_it_were_changed(tmp_path):
    # GIVEN a script and a module of its own, both to be changed
    (tmp_path / "part.py").write_text("VALUE = 'old part'\n")
    script = tmp_path / "train.py"
    script.write_text(
        "from __future__ import annotations\nimport sys, part\nprint('old', part.VALUE, sys.argv[1:], __file__)\n"
    )
    mapping = tmp_path / "sources.json"
    sources = {
        script: "import os, sys, part, pickle\ndef f(): return os.sep\n"
        "print('new', part.VALUE, sys.argv[1:], __file__, __name__, f())\n",
        tmp_path / "part.py": "VALUE = 'new part'\n",
    }
    mapping.write_text(json.dumps({str(path.resolve()): text for path, text in sources.items()}))

    # WHEN its command is turned into one with the changes
    command = patch_check.patched_command([sys.executable, "train.py", "--lr", "1"], mapping, tmp_path)
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)

    # THEN it runs them, with its own name, arguments and path, and no file was changed
    assert done.stdout == "new new part ['--lr', '1'] train.py __main__ /\n", done.stderr
    assert "old" in script.read_text()


def test_commands_without_a_script_file_are_not_run(tmp_path):
    (tmp_path / "train.py").write_text("")
    as_torchrun = ["python", "-m", "torch.distributed.run", "--nproc-per-node", "2", "train.py"]
    assert patch_check.patched_command(as_torchrun, tmp_path / "m", tmp_path)[-1] == "train.py"
    assert patch_check.patched_command(["python", "-m", "pkg.train"], tmp_path / "m", tmp_path) is None
    assert patch_check.patched_command(["bash", "run.sh"], tmp_path / "m", tmp_path) is None


BRANCHES = """\
import torch
from torch.utils.data import DataLoader
from torch.backends import cudnn


def start(worker):
    torch.set_num_threads(1)


def main(many):
    cudnn.benchmark = True
    loader = DataLoader(data, 32, worker_init_fn=start)
    if many:
        model = torch.nn.DataParallel(Net())
    else:
        model = Net()
    head = Head()
    for images, labels in loader:
        loss = criterion(
            head(
                model(images)
            ),
            labels,
        )


def evaluate():
    head = load("best.pt")
"""


def at(text):
    return next(number for number, found in enumerate(BRANCHES.splitlines(), 1) if text in found)


def test_a_model_of_several_branches_is_left_to_the_user(patched):
    # WHEN reading cannot tell which statement makes the model THEN none is guessed
    gone, new, notes = patched({"compile.default=true": at("model(images)")}, text=BRANCHES)
    assert not gone and not new
    assert "model is made in several places, lines 14, 16" in notes[0]


def test_the_model_of_the_same_function_counts(patched):
    # GIVEN a call over several lines, and another function that makes a model of the same name
    _, new, notes = patched({"compile.default=true": at("            head(")}, text=BRANCHES)
    # THEN it is the call within that is meant, and the statement that this function makes it with
    assert new == ["head.compile()"] and not notes


def test_a_flag_is_changed_where_the_script_sets_it(patched):
    gone, new, _ = patched({"cudnn.benchmark=false": at("model(images)")}, text=BRANCHES)
    assert (gone, new) == (["cudnn.benchmark = True"], ["cudnn.benchmark = False"])


def test_the_threads_of_workers_are_not_those_of_the_training(patched):
    gone, new, _ = patched({"threads.intraop=4": at("model(images)")}, text=BRANCHES)
    assert not gone and new == ["torch.set_num_threads(4)"]
