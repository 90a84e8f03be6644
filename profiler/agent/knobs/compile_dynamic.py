"""``model.compile(dynamic=True)``: the model is compiled for changing shapes."""

from __future__ import annotations

from ..intervention.compiling import compiled_model
from ..intervention.values import only_true

NAME = "compile.dynamic"
EQUIVALENCE = "numerical"
SUMMARY = "the model is compiled for changing shapes"
EXAMPLE = "true"
UNDO = "take model.compile out again"

parse = only_true
applies, install, snippet = compiled_model(dynamic=True)
