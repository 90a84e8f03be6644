"""Tells from a sampled stack what the script was doing beside training: logging, printing, drawing, saving, measuring.

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
)
_FILE_RULES = tuple((activity, re.compile(pattern)) for activity, pattern in _FILES)
_LINE_RULES = tuple((activity, re.compile(pattern)) for activity, pattern in _LINES)
#: An image is drawn for people only where it is saved; decoding one is loading.
_IMAGE_SAVE = re.compile(r"(^|\.)(save|_save)$")


def activity_of(frames: Sequence[Frame], script: Frame) -> Activity | None:
    """What a stack was doing beside training; None for anything else.

    ``frames`` are innermost first, ``script`` is the one that names the stack: only what it called tells.
    """
    called = frames[: frames.index(script)] if script in frames else ()
    for frame in called:
        found = _of_library(frame, called)
        if found is not None:
            return found
    text = script.text or ""
    return next((activity for activity, pattern in _LINE_RULES if pattern.search(text)), None)


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
