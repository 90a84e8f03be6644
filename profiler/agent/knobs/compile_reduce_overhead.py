"""``model.compile(mode="reduce-overhead")``: the model is compiled and replayed as CUDA graphs."""

from __future__ import annotations

from ..intervention.compiling import compiled_model
from ..intervention.setup import needs_cuda
from ..intervention.values import only_true

NAME = "compile.reduce_overhead"
EQUIVALENCE = "numerical"
SUMMARY = "the model is compiled and replayed as CUDA graphs"
EXAMPLE = "true"
UNDO = "take model.compile out again"

parse = only_true
applies, install, snippet = compiled_model(needs_cuda, mode="reduce-overhead")
