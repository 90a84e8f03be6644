"""The facts about a training setup that predicates may ask for.

One row per field, with its type and words. Whoever describes a run (the recorder, an importer, a user) maps
its facts on to these names. A fact that is not given is unknown, never false. This module holds the table
only; `predicates` reads and evaluates.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType


class FieldType(Enum):
    """How a field's values are written and compared."""

    WORD = "one of a few words"
    WORDS = "a set of words"
    NUMBER = "a number"
    VERSION = "a version, compared part by part"
    FLAG = "true or false"


@dataclass(frozen=True, slots=True)
class SetupField:
    """One fact about a setup. ``words`` empty means that any word is allowed."""

    name: str
    type: FieldType
    description: str
    words: tuple[str, ...] = ()


_TABLE = (
    SetupField("device.kind", FieldType.WORD, "what computes", ("cpu", "cuda", "rocm", "mps")),
    SetupField("device.capability", FieldType.VERSION, "CUDA compute capability, major.minor"),
    SetupField("world_size", FieldType.NUMBER, "training processes of the run"),
    SetupField("nodes", FieldType.NUMBER, "machines of the run"),
    SetupField(
        "task.domain",
        FieldType.WORD,
        "what is learned from",
        ("vision", "nlp", "speech", "recsys", "tabular", "generic"),
    ),
    SetupField(
        "model.has",
        FieldType.WORDS,
        "parts that the model contains",
        ("attention", "conv", "batchnorm", "layernorm", "embedding", "moe", "rnn", "large-vocab"),
    ),
    SetupField("optimizer.name", FieldType.WORD, "the optimizer's class in lower case, such as adamw"),
    SetupField(
        "precision",
        FieldType.WORD,
        "number format of the products before the method",
        ("fp32", "tf32", "bf16", "fp16", "fp8"),
    ),
    SetupField("loader.num_workers", FieldType.NUMBER, "worker processes of the training DataLoader"),
    SetupField("loader.kind", FieldType.WORD, "kind of data set", ("map", "iterable")),
    SetupField(
        "batch.variable_length", FieldType.FLAG, "whether the shape of a batch differs from step to step"
    ),
    SetupField(
        "memory.headroom", FieldType.NUMBER, "share of device memory that stays free at the peak, 0 to 1"
    ),
    SetupField(
        "training.stage", FieldType.WORD, "from scratch or from a checkpoint", ("pretrain", "finetune")
    ),
    SetupField("torch.version", FieldType.VERSION, "version of PyTorch"),
)

SETUP_FIELDS: Mapping[str, SetupField] = MappingProxyType({field.name: field for field in _TABLE})
