"""``model.compile()``: the model is compiled by TorchInductor."""

from __future__ import annotations

from ..intervention.compiling import compiled_model
from ..intervention.values import only_true

NAME = "compile.default"
EQUIVALENCE = "numerical"
SUMMARY = "the model is compiled by TorchInductor"
EXAMPLE = "true"
UNDO = "take model.compile out again"

parse = only_true
applies, install, snippet = compiled_model()
