"""The console that everything is printed with: a text is shown as it is, never read as markup or terminal codes.

What is printed comes from runs, and those from anywhere. Own words that have a style are `rich.text.Text`.
"""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from ..views.visible import visible


class PlainConsole(Console):
    """A console without markup, emoji codes and highlighting, on which no text can print a terminal code."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Render as rich does, with all that cannot be seen replaced."""
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else visible(text), style, control)


def console(*, stderr: bool = False, width: int | None = None) -> Console:
    """A console on stdout, or on stderr beside a script that owns stdout; ``width`` in cells."""
    return PlainConsole(stderr=stderr, width=width, markup=False, emoji=False, highlight=False)
