"""Tells from a sampled stack what the script was doing beside training: logging, printing, drawing, saving, measuring,
making batches by hand.

A library is known by the file of its frames; what Python does in C, such as ``print``, by the text of the script's
line.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..recording import Frame
from ..vocabulary import Activity

_FILES = (
    (Activity.SAVING, r"safetensors/|torch/serialization\.py|/checkpoint_io\.py|/checkpoint_connector\.py"),
    (
        Activity.MEASURING,
        r"/sklearn/metrics/|/scipy/(stats|spatial|optimize|linalg)/|/nltk/|/pycocotools/|/sacrebleu/|/rouge_score/|/seqeval/",
    ),
    (
        Activity.PLOTTING,
        r"/matplotlib/|/plotly/|/seaborn/|/PIL/(Image|PngImagePlugin|JpegImagePlugin|ImageFile)\.py",
    ),
    (
        Activity.LOGGING,
        r"/logging/__init__\.py|/tensorboard/|/tensorboardX/|/wandb/|/mlflow/|/loggers/|/tqdm/|/rich/|/loguru/|/neptune/",
    ),
)
#: Functions of trainers that save; their frames may lie anywhere.
_FUNCTIONS = re.compile(r"(^|\.)(_?save_checkpoint|_save_checkpoint|save_model|save_pretrained|save_state)$")
#: Functions that make batches or read samples, as people name them; ``train_batch`` or ``log_batch`` do not.
_LOADERS = re.compile(
    r"(^|\.)_*("
    r"(get|next|make|load|fetch|read|build|create|draw|sample|iterate)_(\w+_)?(mini_?)?batch(es)?(_\w+)?"
    r"|(mini_?)?batches|(\w+_)?(batch|data|sample)_?(gen|generator|iter|iterator|loader|stream)"
    r"|(load|read|fetch|decode|augment)_(\w+_)?(image|photo|audio|video|clip|text|sample|example|item|document|file)s?"
    r"|collate(_\w+)?|\w+_collate|tokeni[sz]e(_\w+)?|augment|__getitem__|__getitems__"
    r")$",
    re.IGNORECASE,
)
_LINES = (
    (
        Activity.SAVING,
        r"\b(pickle|joblib|dill|cloudpickle)\.dump\(|\b(np|numpy)\.savez?\w*\(|\bsave_(file|model|pretrained|state)\(",
    ),
    (Activity.PLOTTING, r"\bsavefig\(|\bimsave\(|\.show\(\)"),
    (
        Activity.LOGGING,
        r"\b(log|logger|logging|writer)\.\w+\(|\.(add_scalar|add_histogram|log_metrics|log_dict)\(|\bwandb\.log\(|"
        r"\bwriterows?\(",
    ),
    (Activity.PRINTING, r"(^|[^\w.])p?print\(|\bstd(out|err)\.write\("),
    (
        Activity.LOADING,
        r"\bImage\.open\(|\bimread\(|\bread_(image|video)\(|\bnp\.(memmap|fromfile)\(|\bfrom_numpy\(|\b(librosa|torchaudio)\.load\(|"
        r"\btokenizer\(",
    ),
)
_FILE_RULES = tuple((activity, re.compile(pattern)) for activity, pattern in _FILES)
_LINE_RULES = tuple((activity, re.compile(pattern)) for activity, pattern in _LINES)
#: An image is drawn for people only where it is saved; decoding one is loading.
_IMAGE_SAVE = re.compile(r"(^|\.)(save|_save)$")


def activity_of(frames: Sequence[Frame], script: Frame) -> Activity | None:
    """What a stack was doing beside training; None for anything else.

    ``frames`` are innermost first, ``script`` is the one that names the stack: only what it called tells, and for whom
    it works where that makes batches.
    """
    called = frames[: frames.index(script)] if script in frames else ()
    for frame in called:
        found = _of_library(frame, called)
        if found is not None:
            return found
    text = script.text or ""
    found = next((activity for activity, pattern in _LINE_RULES if pattern.search(text)), None)
    if found is None and any(makes_batches(frame) for frame in frames[len(called) :]):
        return Activity.LOADING
    return found


def makes_batches(frame: Frame) -> bool:
    """Whether a function is called as those that make batches or read samples are."""
    return _LOADERS.search(frame.function) is not None


def _of_library(frame: Frame, called: Sequence[Frame]) -> Activity | None:
    if _FUNCTIONS.search(frame.function):
        return Activity.SAVING
    file = frame.file.replace("\\", "/")
    found = next((activity for activity, pattern in _FILE_RULES if pattern.search(file)), None)
    if (
        found is Activity.PLOTTING
        and "/PIL/" in file
        and not any(_IMAGE_SAVE.search(f.function) for f in called)
    ):
        return None
    return found
