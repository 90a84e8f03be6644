"""How commands that start a script read their line: their own options first, then the script's words untouched."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand


class ScriptCommand(TyperCommand):
    """Takes everything from the script, ``-m`` or ``--`` on as the command to record."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put a separator where the command begins."""
        takes_value = {
            name
            for parameter in self.params
            for name in parameter.opts
            if not getattr(parameter, "is_flag", True)
        }
        position = 0
        while position < len(args) and args[position].startswith("-") and args[position] not in ("-m", "--"):
            position += 2 if args[position] in takes_value else 1
        if position < len(args) and args[position] == "-m":
            args = [*args[:position], "--", *args[position:]]
        elif position < len(args) and args[position] == "--":
            args = [*args[:position], "--", "--", *args[position + 1 :]]
        return super().parse_args(ctx, args)
