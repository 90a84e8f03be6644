"""What a method needs and the run did not tell, as questions that a user can answer with yes or no."""

from __future__ import annotations

from collections.abc import Iterable

from ..catalog import Predicate

_PARTS = {
    "attention": "attention layers",
    "conv": "convolutions",
    "batchnorm": "batch normalisation",
    "layernorm": "layer normalisation",
    "embedding": "embedding tables",
    "moe": "mixture-of-experts layers",
    "rnn": "recurrent layers",
    "large-vocab": "an embedding or output layer over 30,000 or more tokens",
}
_DEVICES = {
    "cpu": "a CPU",
    "cuda": "an NVIDIA GPU (CUDA)",
    "rocm": "an AMD GPU (ROCm)",
    "mps": "an Apple GPU (MPS)",
}
_DOMAINS = {
    "vision": "images or video",
    "nlp": "text",
    "speech": "speech",
    "recsys": "recommendation data",
    "tabular": "tables",
    "generic": "any data",
}
_GPUS_BY_CAPABILITY = {
    "7.0": "V100 or newer",
    "7.5": "T4 or newer",
    "8.0": "A100 or newer",
    "8.9": "L4, RTX 40 or newer",
    "9.0": "H100 or newer",
    "10.0": "B200 or newer",
}


def question(predicate: Predicate) -> str:
    """The question whose answer yes means that the condition holds."""
    words = [_written(value) for value in predicate.operands]
    op = predicate.op.value
    match predicate.field.name:
        case "device.kind":
            return f"Does {_either(_DEVICES[word] for word in words)} compute this run?"
        case "device.capability":
            gpus = _GPUS_BY_CAPABILITY.get(words[0], "see NVIDIA's table")
            return f"Is the GPU of compute capability {words[0]} or above ({gpus})?"
        case "task.domain":
            return f"Does the model learn from {_either(_DOMAINS[word] for word in words)}?"
        case "model.has":
            return f"Does the model contain {_PARTS[words[0]]}?"
        case "optimizer.name":
            return f"Is the optimizer {_either(words)}?"
        case "precision":
            return f"Does the model multiply in {_either(words)} now?"
        case "loader.kind":
            return (
                "Can the data set be indexed (`__getitem__`, not an IterableDataset)?"
                if words == ["map"]
                else "Is the data set an IterableDataset?"
            )
        case "batch.variable_length":
            return (
                "Do batches differ in shape from step to step?"
                if words == ["true"]
                else "Do all batches have the same shape?"
            )
        case "memory.headroom":
            return f"Is {_bounds(op, float(words[0]))} of the device's memory free at the peak?"
        case "training.stage":
            return (
                "Does training start from a pretrained model?"
                if words == ["finetune"]
                else "Does training start from scratch (pretraining)?"
            )
        case "torch.version":
            return f"Is PyTorch {words[0]} or newer installed?"
        case "world_size":
            return (
                f"Does the run have {_counted(op, words[0])} training process{_plural(op, words[0], 'es')}?"
            )
        case "nodes":
            return f"Does the run span {_counted(op, words[0])} machine{_plural(op, words[0], 's')}?"
        case "loader.num_workers":
            return f"Does the DataLoader have {_counted(op, words[0])} worker process{_plural(op, words[0], 'es')}?"
        case name:
            return (
                f"Does this hold for the run: {predicate.field.description} ({name}) {op} {_either(words)}?"
            )


def _written(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)


def _either(words: Iterable[str]) -> str:
    listed = list(words)
    return listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])} or {listed[-1]}"


_COUNTS = {
    ">": "more than",
    ">=": "at least",
    "<": "fewer than",
    "<=": "at most",
    "==": "exactly",
    "!=": "other than",
}


def _counted(op: str, count: str) -> str:
    return "any" if (op, count) == (">", "0") else f"{_COUNTS[op]} {'one' if count == '1' else count}"


def _plural(op: str, count: str, ending: str) -> str:
    return "" if count == "1" else ending


def _bounds(op: str, share: float) -> str:
    return f"{'less than' if op in ('<', '<=') else 'at least'} {share:.0%}".replace("%", " %")
