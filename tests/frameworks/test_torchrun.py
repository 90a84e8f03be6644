"""Several ranks under ``torchrun`` and ``torch.multiprocessing.spawn``: DDP, FSDP2, and ranks that die or hang."""

import sys

import pytest

from trainrx.profiler.launch import Limits
from trainrx.profiler.vocabulary import Ending, RunStatus

from .conftest import TORCHRUN, seconds_of

SHARDED = """
    import os
    import torch
    import torch.distributed as dist
    from torch import nn
    from torch.distributed.fsdp import fully_shard
    from torch.distributed.tensor import distribute_tensor, init_device_mesh, Replicate, Shard
    from torch.nn.parallel import DistributedDataParallel

    def say(*words):  # in one piece: both ranks write at once
        os.write(1, " ".join(map(str, (dist.get_rank(), *words, "\\n"))).encode())

    def train(model, optimizer, steps):
        for step in range(steps):
            inputs = torch.randn(16, 64)
            loss = model(inputs).square().mean()
            loss.backward()
            norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
        total = float(getattr(norm, "full_tensor", lambda: norm)())
        say(loss.item().hex(), total.hex())

    dist.init_process_group("gloo")
    torch.manual_seed(0)
    blocks = [nn.Sequential(nn.Linear(64, 64), nn.ReLU()) for _ in range(3)]
    model = nn.Sequential(*blocks, nn.Linear(64, 8))
    for block in blocks:
        fully_shard(block)
    fully_shard(model, reshard_after_forward=False)
    train(model, torch.optim.AdamW(model.parameters(), lr=1e-3), 12)
    total = torch.ones(256)
    work = dist.all_reduce(total, async_op=True)
    work.wait()
    gathered = [None, None]
    dist.all_gather_object(gathered, {"rank": dist.get_rank()})
    say(total[0].item(), gathered)
    dist.destroy_process_group()
"""


def test_sharded_training_shows_its_collectives(write_script, run_both) -> None:
    # GIVEN a model under FSDP2 on two ranks, whose collectives python code issues
    script = write_script(SHARDED)
    # WHEN recorded THEN it computes the same
    plain, recorded, report = run_both([*TORCHRUN, str(script)])
    assert plain == recorded and len(plain) == 4
    # AND gathering and scattering is communication, told by kind and bytes, not hidden in forward and backward
    assert report.run.steps_recorded == 11 and [rank.steps for rank in report.ranks] == [11, 11]
    assert seconds_of(report)["communication"] > 0
    uses = {use.operation: use for use in report.collective_uses}
    parameters = 3 * (64 * 64 + 64) + 64 * 8 + 8
    assert uses["all_gather"].bytes_per_step == pytest.approx(2 * 4 * parameters, rel=0.2)
    assert uses["reduce_scatter"].bytes_per_step == pytest.approx(4 * parameters, rel=0.01)
    assert uses["reduce_scatter"].calls_per_step == 4
    # AND the setup tells how it is sharded, and the model by its own name
    setup = report.setup
    assert (setup["fsdp"], setup["fsdp.reshard_after_forward"], setup["model.type"]) == (
        True,
        False,
        "Sequential",
    )
    assert (setup["model.parameters"], setup["world_size"]) == (parameters, 2)
    assert report.lost_ranks == []


REPLICATED = """
    import os, sys, time
    import torch
    import torch.distributed as dist
    from torch import nn
    from torch.nn.parallel import DistributedDataParallel

    def work(rank, ranks, what):
        if ranks:
            os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=what.partition(":")[2])
            dist.init_process_group("gloo", rank=rank, world_size=ranks)
        else:
            dist.init_process_group("gloo")
        rank = dist.get_rank()
        torch.manual_seed(0)
        model = DistributedDataParallel(nn.Linear(64, 8))
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
        for step in range(30):
            loss = model(torch.randn(16, 64)).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            time.sleep(0.05)
            if step == 20 and rank == 1:
                if what.startswith("kill"):
                    os.kill(os.getpid(), 9)
                if what == "hang":
                    until = time.monotonic() + 7
                    while time.monotonic() < until:
                        time.sleep(0.01)
                    os.kill(os.getppid(), 15)  # somebody loses patience
                    time.sleep(60)
        if what.startswith("save"):
            torch.save(model.state_dict(), f"rank{rank}.pt")
            os.write(1, f"{rank} {loss.item().hex()}\\n".encode())
        dist.destroy_process_group()

    if __name__ == "__main__":
        if ":" in sys.argv[1]:
            torch.multiprocessing.spawn(work, args=(2, sys.argv[1]), nprocs=2)
        else:
            work(0, 0, sys.argv[1])
"""


def test_a_rank_that_hangs_is_named(write_script, record_command) -> None:
    # GIVEN two ranks, of which one stands still after 21 steps while the other waits for its gradients
    script = write_script(REPLICATED)
    # WHEN somebody ends it THEN the verdict names rank, line and who waits
    report = record_command([*TORCHRUN, str(script), "hang"], limits=Limits(traced_steps=0))
    assert report.run.status is RunStatus.FAILED and report.lost_ranks == [1]
    assert report.verdict.startswith("Rank 1 hangs since")
    line = 1 + script.read_text().splitlines().index(" " * 20 + "time.sleep(0.01)")
    assert f"train.py:{line} in work; rank 0 waited for it in a collective from" in report.verdict
    assert [rank.ended and rank.ended.how for rank in report.ranks] == [Ending.STANDING, Ending.STANDING]
    # AND the model is described though its object was told of as a parallel one before
    assert report.setup["model.type"] == "Linear"


def test_a_rank_of_spawn_that_is_killed_is_named(write_script, record_command, free_port) -> None:
    script = write_script(REPLICATED)
    report = record_command([sys.executable, str(script), f"kill:{free_port}"], limits=Limits(traced_steps=0))
    assert report.run.status is RunStatus.FAILED and len(report.ranks) == 2
    # the parent saw which one failed first, and how
    assert (
        report.verdict.startswith("Rank 1 was killed by SIGKILL ") and "into the recording" in report.verdict
    )
    assert report.ranks[1].ended is not None and report.ranks[1].ended.how is Ending.KILLED


def test_ranks_of_spawn_compute_the_same_when_recorded(write_script, run_both, free_port, tmp_path) -> None:
    # GIVEN a script that starts its own ranks, each of which prints its loss and saves its weights
    script = write_script(REPLICATED)
    # WHEN it runs plain and recorded THEN exit code (0, held by the fixture), output and files are the same
    plain, recorded, report = run_both([sys.executable, str(script), f"save:{free_port}"])
    assert plain == recorded and [line.split()[0] for line in plain] == ["0", "1"]
    files = [
        {path.name: path.read_bytes() for path in (tmp_path / name).iterdir()}
        for name in ("plain", "recorded")
    ]
    assert files[0] == files[1] and sorted(files[0]) == ["rank0.pt", "rank1.pt"]
    # AND both ranks are in the report
    assert report.run.status is RunStatus.FINISHED and report.lost_ranks == []
    assert [(rank.rank, rank.steps) for rank in report.ranks] == [(0, 29), (1, 29)]
    assert report.setup["world_size"] == 2 and seconds_of(report)["communication"] > 0
