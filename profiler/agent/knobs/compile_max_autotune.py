"""``model.compile(mode="max-autotune")``: the model is compiled with kernels chosen by timing them."""

from __future__ import annotations

from ..intervention.compiling import compiled_model
from ..intervention.setup import needs_cuda
from ..intervention.values import only_true

NAME = "compile.max_autotune"
EQUIVALENCE = "numerical"
SUMMARY = "the model is compiled with kernels chosen by timing them"
EXAMPLE = "true"
UNDO = "take model.compile out again"

parse = only_true
applies, install, snippet = compiled_model(needs_cuda, mode="max-autotune")
