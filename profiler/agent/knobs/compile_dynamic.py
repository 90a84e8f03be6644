"""``torch.compile(..., dynamic=True)``: what the script compiles, or its model, is compiled for changing shapes."""

from __future__ import annotations

from ..intervention.compiling import compilation_with
from ..intervention.values import only_true

NAME = "compile.dynamic"
EQUIVALENCE = "numerical"
SUMMARY = "what is compiled is compiled for changing shapes"
EXAMPLE = "true"
UNDO = "take dynamic=True out again"

parse = only_true
applies, install, snippet = compilation_with(dynamic=True)
