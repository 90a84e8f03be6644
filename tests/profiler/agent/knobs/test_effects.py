"""Knobs do to unedited scripts what they say: each script prints what it sees."""

import json
import shutil

import pytest

TRAINING = """
import gc, json
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    torch.autograd.set_detect_anomaly(True)
    data = TensorDataset(torch.randn(64, 3, 8, 8), torch.randint(4, (64,)))
    train = DataLoader(data, batch_size=8, shuffle=True)
    test = DataLoader(data, batch_size=8)
    model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(288, 4))
    optimizer = torch.optim.AdamW(model.parameters(), foreach=False)
    seen = {}
    model[0].register_forward_hook(lambda m, i, o: seen.update(
        dtype=str(o.dtype), last=i[0].is_contiguous(memory_format=torch.channels_last), inference=o.is_inference()))
    for step, (x, y) in enumerate(train):
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad(set_to_none=False)
        seen["grad"] = model[0].weight.grad is None
        loss.backward()
        optimizer.step()
    seen.update(loss=str(loss.dtype), steps=step + 1, batch=len(x), anomaly=torch.is_anomaly_enabled())
    training = dict(seen)
    model.eval()
    for x, y in test:
        model(x)
    torch.save(model.state_dict(), "/dev/null")
    print(json.dumps({
        "training": training, "evaluation": seen, "train_workers": train.num_workers, "test_workers": test.num_workers,
        "prefetch": train.prefetch_factor, "persistent": train.persistent_workers, "threads": torch.get_num_threads(),
        "fused": optimizer.defaults["fused"], "foreach": optimizer.defaults["foreach"], "frozen": gc.get_freeze_count(),
        "interop": torch.get_num_interop_threads(), "keys": list(model.state_dict())[0],
    }))

if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize("persistent", ["true"])
def test_many_knobs_at_once(run_with, persistent):
    # GIVEN knobs that do not exclude each other, in an order in which the later ones depend on the first
    knobs = {
        "loader.persistent_workers": persistent, "loader.prefetch_factor": "3", "loader.worker_threads": "1",
        "loader.num_workers": "1", "precision.autocast_bf16": "true", "memory_format.channels_last": "true",
        "threads.intraop": "2", "threads.interop": "3", "gc.control": "manual", "optimizer.fused": "true",
        "optimizer.zero_grad_none": "true", "eval.inference_mode": "true", "debug.off": "true", "batch.size": "4",
        "checkpoint.asynchronous": "true", "loader.multiprocessing_context": "fork", "cudnn.benchmark": "true",
        "optimizer.foreach": "false",
    }  # fmt: skip

    # WHEN the script runs with them
    stdout, events = run_with(TRAINING, knobs)

    # THEN it sees all of them, and its evaluation only those that are for it
    saw = json.loads(stdout)
    assert (saw["train_workers"], saw["prefetch"], saw["persistent"], saw["test_workers"]) == (1, 3, True, 0)
    assert saw["training"]["dtype"] == "torch.bfloat16" and saw["training"]["loss"] == "torch.float32"
    assert saw["training"]["last"] is True and saw["training"]["inference"] is False
    assert (saw["training"]["steps"], saw["training"]["batch"]) == (16, 4)
    assert saw["evaluation"]["inference"] is True
    assert (saw["threads"], saw["interop"]) == (2, 3)
    assert saw["fused"] is True
    assert saw["frozen"] > 0
    assert saw["training"]["grad"] is True
    assert saw["training"]["anomaly"] is False
    assert saw["keys"] == "0.weight"

    # AND each says so
    took = {knob for knob, told in events.items() if any(event == "applied" for event, _ in told)}
    assert took == set(knobs) - {"cudnn.benchmark", "optimizer.foreach"}
    assert events["cudnn.benchmark"][0][0] == "not applied"


def test_a_knob_that_meets_nothing_says_so(run_with):
    # GIVEN a script that needs none of them
    script = TRAINING.replace("set_to_none=False", "set_to_none=True").replace(
        "shuffle=True", "shuffle=True, num_workers=1"
    )

    # WHEN it runs with knobs that find nothing to change
    _, events = run_with(
        script,
        {
            "optimizer.zero_grad_none": "true", "loader.num_workers": "1", "threads.intraop": "1",
            "compile.regional": "true", "checkpoint.activation": "NoSuchBlock", "sdpa.flash": "true",
            "ddp.bucket_cap_mb": "5", "threads.affinity": "split",
        },
    )  # fmt: skip

    # THEN none of them is told as applied
    assert not [event for told in events.values() for event, _ in told if event != "not applied"]
    assert "already" in events["loader.num_workers"][0][1]
    assert "already" in events["threads.intraop"][0][1]
    assert "LOCAL_RANK" in events["threads.affinity"][0][1]


BLOCKS = """
import json
import torch
from torch import nn
from torch.utils.data import DataLoader

class Block(nn.Module):
    calls = 0
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(8, 8)
    def forward(self, x):
        Block.calls += 1
        q = self.inner(x).unsqueeze(0).unsqueeze(0)
        return nn.functional.scaled_dot_product_attention(q, q, q)[0, 0]

torch.manual_seed(0)
loader = DataLoader(torch.arange(32 * 8.0).reshape(32, 8) / 256, batch_size=8)
model = nn.Sequential(*(Block() for _ in range(2)))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
firsts = []
for epoch in range(2):
    for batch in loader:
        firsts.append(float(batch[0, 0]))
        loss = model(batch).square().mean()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1e9)
        norm = float(model[0].inner.weight.grad.norm())
        optimizer.step()
        optimizer.zero_grad()
        torch.save({"epoch": epoch}, "/dev/null")
print(json.dumps({"calls": Block.calls, "loss": float(loss), "norm": norm, "firsts": firsts,
                  "compiled": [m._compiled_call_impl is not None for m in (model, model[0])],
                  "math": torch.backends.cuda.math_sdp_enabled()}))
"""


def test_blocks_attention_checkpoints_and_replay(run_with):
    # GIVEN a model of repeated blocks, and workers that stay for batches of which the script takes things out
    script = BLOCKS.replace("batch_size=8)", "8, num_workers=1, persistent_workers=True, collate_fn=collate)")
    script = script.replace("loader = ", "collate = lambda rows: {'x': torch.stack(rows)}\nloader = ")
    script = script.replace("in loader:\n", "in loader:\n        batch = batch.pop('x')\n")
    knobs = {
        "checkpoint.activation": "auto", "sdpa.flash": "true", "loader.replay_batches": "2", "checkpoint.every": "4",
        "threads.affinity": "0",
    }  # fmt: skip

    # WHEN it trains for two epochs of four batches
    stdout, events = run_with(script, knobs)

    # THEN blocks are computed twice, two batches come again and again, and epochs keep their length
    saw = json.loads(stdout)
    assert saw["calls"] == 2 * 2 * 8
    assert len(saw["firsts"]) == 8 and len(set(saw["firsts"])) == 2
    assert saw["math"] is False
    assert {knob for knob, told in events.items() if told[0][0] == "applied"} == set(knobs)


def test_scaled_gradients_are_those_that_the_script_expects(run_with, tmp_path):
    # GIVEN the same script without knobs
    plain, _ = run_with(BLOCKS, {})
    (tmp_path / "run").rename(tmp_path / "plain")

    # WHEN losses are scaled and products are half precision
    stdout, events = run_with(BLOCKS, {"precision.autocast_fp16": "true"})

    # THEN the script sees gradients and losses of the same size
    assert json.loads(stdout)["norm"] == pytest.approx(json.loads(plain)["norm"], rel=0.05)
    assert json.loads(stdout)["loss"] == pytest.approx(json.loads(plain)["loss"], rel=0.05)
    assert "losses are scaled before backward" in [detail for _, detail in events["precision.autocast_fp16"]]


def test_models_are_compiled_in_place_and_in_one_piece(run_with):
    # GIVEN one of torch's own containers, whose compile() would do nothing, and a backend that compiles nothing
    script = BLOCKS.replace("import torch\n", "import functools, torch\n", 1)
    script = script.replace(
        "torch.manual_seed(0)", "torch.compile = functools.partial(torch.compile, backend='eager')"
    )
    script = script.replace("        Block.calls += 1\n", "")
    script += "from torch._dynamo.utils import counters; print(counters['stats']['unique_graphs'])\n"

    # WHEN the model is compiled
    stdout, events = run_with(script, {"compile.default": "true", "compile.regional": "true"})

    # THEN it is one graph, and blocks are not compiled a second time
    saw, graphs = stdout.splitlines()
    assert json.loads(saw)["compiled"] == [True, False]
    assert int(graphs) == 1
    assert events["compile.default"] == [("applied", "Sequential is compiled")]
    assert events["compile.regional"][0][0] == "not applied"


PARALLEL = """
import os
import torch
from torch import nn
import torch.distributed as dist

dist.init_process_group("gloo")
torch.manual_seed(0)
model = nn.parallel.DistributedDataParallel(nn.Linear(8, 8), find_unused_parameters=True)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(4):
    loss = model(torch.ones(4, 8)).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
if dist.get_rank() == 0:
    print(model.find_unused_parameters, model.static_graph, model.gradient_as_bucket_view, model.broadcast_buffers,
          model.bucket_bytes_cap // 2**20, [hook.__name__ for hook, _ in model._comm_hooks], flush=True)
dist.barrier()
os._exit(0)  # gloo's threads abort the process at times where a hook compresses, with and without the agent
"""


def test_knobs_of_two_ranks(run_with):
    # GIVEN every knob of DistributedDataParallel
    knobs = {
        "ddp.find_unused_parameters": "false", "ddp.static_graph": "true", "ddp.gradient_as_bucket_view": "true",
        "ddp.broadcast_buffers": "false", "ddp.bucket_cap_mb": "7", "ddp.comm_hook_fp16": "true",
        "threads.affinity": "split",
    }  # fmt: skip

    # WHEN two ranks train
    stdout, events = run_with(
        PARALLEL, knobs, launcher=("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")
    )

    # THEN the model has them, and both ranks say so
    assert stdout.split(maxsplit=5) == ["False", "True", "True", "False", "7", "['fp16_compress_hook']\n"]
    for knob in knobs:
        assert [event for event, _ in events[knob]].count("applied") == 2, events[knob]


ACCUMULATING = """
import os
import torch
from torch import nn
import torch.distributed as dist

dist.init_process_group("gloo")
torch.manual_seed(0)
model = nn.parallel.DistributedDataParallel(nn.Linear(8, 8))
exchanges = []
model.register_comm_hook(None, lambda state, bucket: exchanges.append(1) or average(state, bucket))

def average(state, bucket):
    return dist.all_reduce(bucket.buffer().div_(2), async_op=True).get_future().then(lambda done: done.value()[0])

optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    for micro in range(3 if step < 2 else 2):
        inputs = torch.full((4, 8), 1.0 + micro + dist.get_rank())
        model(inputs).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
weights = [torch.empty(8, 8) for _ in range(2)]
dist.all_gather(weights, model.module.weight.detach())
if dist.get_rank() == 0:
    print(len(exchanges), torch.equal(*weights), weights[0].sum().item(), flush=True)
dist.barrier()
os._exit(0)  # a hook in Python and gloo's threads do not always end well together
"""


def test_micro_batches_exchange_once_per_step(run_with, tmp_path):
    # GIVEN two ranks that exchange gradients with each of three micro-batches, and a last step of only two
    launcher = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")
    before, _ = run_with(ACCUMULATING, {}, launcher=launcher)

    # WHEN only the last micro-batch of a step exchanges them
    shutil.rmtree(tmp_path / "run")
    after, events = run_with(ACCUMULATING, {"ddp.no_sync": "3"}, launcher=launcher)

    # THEN there are two exchanges in place of eight, the short step's gradients were averaged, and all learn the same
    exchanges, same, total = before.split()
    assert (exchanges, same) == ("8", "True")
    fewer, same, total_after = after.split()
    assert (fewer, same) == ("2", "True")
    assert float(total_after) == pytest.approx(float(total), rel=1e-5)
    assert [event for event, _ in events["ddp.no_sync"]].count("applied") == 2


COMPILED = """
import torch
from torch import nn

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(4, 2)

    def forward(self, x):
        return torch.relu(self.head(x)).sum()

model = Model()
compiled = torch.compile(model, backend="eager", dynamic=False)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(8):
    optimizer.zero_grad()
    compiled(torch.ones(2 + step, 4)).backward()
    optimizer.step()
print(torch._dynamo.utils.counters["stats"]["unique_graphs"])
"""


@pytest.mark.parametrize(
    ("script", "knob", "told", "graphs"),
    [
        pytest.param(
            COMPILED,
            "compile.default",
            ("not applied", "OptimizedModule is compiled already"),
            8,
            id="default",
        ),
        pytest.param(
            COMPILED,
            "compile.dynamic",
            ("applied", "torch.compile is called with dynamic=True"),
            1,
            id="dynamic",
        ),
        pytest.param(
            COMPILED.replace("dynamic=False", "dynamic=True"),
            "compile.dynamic",
            ("not applied", "OptimizedModule is compiled with dynamic=True already"),
            1,
            id="dynamic already",
        ),
    ],
)
def test_a_script_that_compiles_its_model(run_with, script, knob, told, graphs):
    # GIVEN a script that compiles its model for each shape, and trains beyond the steps in which models are looked for
    # WHEN a knob is put on that compiles THEN nothing is compiled twice, and shapes are as the knob says
    stdout, events = run_with(script, {knob: "true"})
    assert events[knob] == [told]
    assert int(stdout) == graphs
