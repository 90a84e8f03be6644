"""What makes a sample slow, as far as the names of files, functions and transforms that loading was seen in tell."""

from __future__ import annotations

from enum import Enum

from ..proposal import Case


class Suspect(Enum):
    """A kind of code that loading was seen in, with words that give it away."""

    PYTHON = ("pandas", "iloc", "copy.deepcopy", "json/decoder", "loop", "pixel", "astype", "dtype", "double")
    ARRAY_FILE = ("h5py", "hdf5", "zarr", "netcdf", "tables/")
    DECODER = (
        "jpeg",
        "jpg",
        "pil/",
        "pillow",
        "imageio",
        "imread",
        "imdecode",
        "cv2",
        "decode_image",
        "image.open",
    )
    TOKENIZER = ("tokeni", "sentencepiece", "tiktoken", "bpe")


def suspects(case: Case) -> frozenset[Suspect]:
    """The kinds of code that a finding's loader was seen in; empty where nothing tells."""
    text = "\n".join(_names(case)).lower().replace("\\", "/")
    return frozenset(suspect for suspect in Suspect if any(word in text for word in suspect.value))


def _names(case: Case) -> list[str]:
    loader = case.report.loader
    names = [str(where) for where in case.finding.where]
    if loader is not None:
        names += [f"{line.file} {line.function}" for line in loader.lines]
        names += [transform.name for transform in loader.transforms]
    names += [str(case.setup("loader.dataset") or ""), str(case.setup("loader.collate_fn") or "")]
    return names
