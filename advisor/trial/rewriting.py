"""Small edits of Python source that leave everything else as it was written, comments and layout included.

An edit is bound to a node of the parsed file; all edits of a file are made in one go, so that line numbers of the
unchanged file stay valid while they are planned.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, ParentNodeProvider, PositionProvider

Edit = Callable[[Any], Any]


class SourceFile:
    """A parsed file and the edits that are planned for it.

    Raises:
        SyntaxError: the text is no Python that can be parsed.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        try:
            wrapper = MetadataWrapper(cst.parse_module(text))
        except cst.ParserSyntaxError as error:
            raise SyntaxError(error.message) from None
        self.module = wrapper.module
        self._positions = cast(dict[cst.CSTNode, CodeRange], wrapper.resolve(PositionProvider))
        self._parents = cast(dict[cst.CSTNode, cst.CSTNode], wrapper.resolve(ParentNodeProvider))
        self._edits: dict[cst.CSTNode, list[Edit]] = {}

    # -- finding -----------------------------------------------------------------------------------------------

    def calls(self, *names: str) -> list[cst.Call]:
        """All calls of functions or methods with one of these last names, in order."""
        found = [node for node in self._positions if isinstance(node, cst.Call)]
        named = [call for call in found if not names or last_name(call.func) in names]
        return sorted(named, key=lambda call: self._positions[call].start.line)

    def calls_at(self, line: int, *names: str) -> list[cst.Call]:
        """The calls with one of these last names that stand on a line, those within others first."""
        found = [call for call in self.calls(*names) if self._covers(call, line)]
        return sorted(found, key=self._from_inside)

    def _from_inside(self, node: cst.CSTNode) -> tuple[int, ...]:
        start, end = self._positions[node].start, self._positions[node].end
        return -start.line, -start.column, end.line, end.column

    def statement_of(self, node: cst.CSTNode) -> cst.SimpleStatementLine | None:
        """The simple statement that a node is part of; None within a block's head."""
        parent: cst.CSTNode | None = node
        while parent is not None and not isinstance(parent, cst.SimpleStatementLine):
            if isinstance(parent, cst.BaseCompoundStatement):
                return None
            parent = self._parents.get(parent)
        return parent

    def enclosing(self, node: cst.CSTNode) -> list[cst.CSTNode]:
        """The nodes around a node, from the inside."""
        found: list[cst.CSTNode] = []
        parent = self._parents.get(node)
        while parent is not None:
            found.append(parent)
            parent = self._parents.get(parent)
        return found

    def scope_of(self, node: cst.CSTNode) -> cst.CSTNode | None:
        """The function that a node belongs to; None for the module itself."""
        return next((outer for outer in self.enclosing(node) if isinstance(outer, cst.FunctionDef)), None)

    def is_on_a_branch(self, node: cst.CSTNode) -> bool:
        """Whether a node runs under a condition, as far as its own function says."""
        for outer in self.enclosing(node):
            if isinstance(outer, cst.FunctionDef):
                return False
            if isinstance(outer, cst.If | cst.Else | cst.Try | cst.Match):
                return True
        return False

    def line_of(self, node: cst.CSTNode) -> int:
        """The line that a node begins in."""
        return self._positions[node].start.line

    def assignments(self, name: str) -> list[tuple[cst.SimpleStatementLine, cst.BaseExpression]]:
        """The statements that assign to a name (``model`` or ``self.model``), in order."""
        found: list[tuple[cst.SimpleStatementLine, cst.BaseExpression]] = []
        for node in self._positions:
            if isinstance(node, cst.Assign) and any(dotted(target.target) == name for target in node.targets):
                statement = self.statement_of(node)
                if statement is not None:
                    found.append((statement, node.value))
        return sorted(found, key=lambda pair: self._positions[pair[0]].start.line)

    def _covers(self, node: cst.CSTNode, line: int) -> bool:
        span = self._positions[node]
        return span.start.line <= line <= span.end.line

    # -- editing -----------------------------------------------------------------------------------------------

    def edit(self, node: cst.CSTNode, edit: Edit) -> None:
        """Plan an edit: ``edit`` is given the node as earlier edits left it and returns what stands there instead."""
        self._edits.setdefault(node, []).append(edit)

    def set_argument(self, call: cst.Call, name: str, value: str, *, position: int | None = None) -> None:
        """Plan to pass ``name=value``: in place of what is passed for it, or as a new last argument."""
        self.edit(call, lambda updated: _with_argument(updated, name, value, position))

    def insert_after(self, statement: cst.SimpleStatementLine, *lines: str) -> None:
        """Plan new statements below one, at its depth."""
        added = [cst.parse_statement(line) for line in lines]
        self.edit(statement, lambda updated: cst.FlattenSentinel([*_flat(updated), *added]))

    def insert_after_imports(self, *lines: str) -> None:
        """Plan new statements below the imports at the top."""
        self.edit(self.module, lambda module: _below_imports(module, lines))

    def wrap(self, statement: cst.SimpleStatementLine, context: str) -> None:
        """Plan to put a statement into ``with context:``."""

        def wrapped(updated: Any) -> Any:
            inner = [line.with_changes(leading_lines=[]) for line in _flat(updated)]
            block = cst.parse_statement(f"with {context}:\n    pass\n")
            assert isinstance(block, cst.With)
            return block.with_changes(
                body=cst.IndentedBlock(body=inner), leading_lines=statement.leading_lines
            )

        self.edit(statement, wrapped)

    def result(self) -> str:
        """The text with all planned edits."""
        return self.module.visit(_Rewriter(self._edits)).code


class _Rewriter(cst.CSTTransformer):
    def __init__(self, edits: dict[cst.CSTNode, list[Edit]]) -> None:
        super().__init__()
        self._edits = edits

    def on_leave(self, original_node: Any, updated_node: Any) -> Any:
        result = super().on_leave(original_node, updated_node)
        for edit in self._edits.get(original_node, ()):
            result = edit(result)
        return result


def last_name(expression: cst.CSTNode) -> str | None:
    """``DataLoader`` of ``torch.utils.data.DataLoader``."""
    if isinstance(expression, cst.Attribute):
        return expression.attr.value
    return expression.value if isinstance(expression, cst.Name) else None


def dotted(expression: cst.CSTNode) -> str | None:
    """``self.model`` as it is written; None for anything but names and attributes."""
    if isinstance(expression, cst.Name):
        return expression.value
    if isinstance(expression, cst.Attribute):
        inner = dotted(expression.value)
        return None if inner is None else f"{inner}.{expression.attr.value}"
    return None


def argument(call: cst.Call, name: str, position: int | None = None) -> cst.Arg | None:
    """The argument that is passed under a name, or by position."""
    for number, arg in enumerate(call.args):
        if arg.star:
            return None
        if (arg.keyword is None and number == position) or (
            arg.keyword is not None and arg.keyword.value == name
        ):
            return arg
    return None


def unpacks(call: cst.Call) -> bool:
    """Whether arguments are passed by ``*`` or ``**``, so that nobody can tell which from reading it."""
    return any(arg.star for arg in call.args)


def text_of(node: cst.CSTNode) -> str:
    """A node as it is written."""
    return cst.Module(body=[]).code_for_node(node)


def _with_argument(call: cst.Call, name: str, value: str, position: int | None) -> cst.Call:
    expression = cst.parse_expression(value)
    present = argument(call, name, position)
    if present is not None:
        args = [arg.with_changes(value=expression) if arg is present else arg for arg in call.args]
        return call.with_changes(args=args)
    new = cst.Arg(
        value=expression,
        keyword=cst.Name(name),
        equal=cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace("")),
    )
    return call.with_changes(args=_appended(call.args, new))


def _appended(args: Sequence[cst.Arg], new: cst.Arg) -> list[cst.Arg]:
    """The new argument last, on a line of its own where the others stand so."""
    if not args:
        return [new]
    *before, last = args
    between = before[-1].comma if before else cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
    return [*before, last.with_changes(comma=between), new.with_changes(comma=last.comma)]


def _flat(node: Any) -> list[Any]:
    return list(node) if isinstance(node, cst.FlattenSentinel) else [node]


def _below_imports(module: cst.Module, lines: Sequence[str]) -> cst.Module:
    body = list(module.body)
    last = max((number for number, line in enumerate(body) if _is_import(line)), default=-1)
    present = {text_of(line).strip() for line in body}
    added = [cst.parse_statement(line) for line in lines if line not in present]
    return module.with_changes(body=[*body[: last + 1], *added, *body[last + 1 :]])


def _is_import(statement: cst.CSTNode) -> bool:
    return isinstance(statement, cst.SimpleStatementLine) and isinstance(
        statement.body[0], cst.Import | cst.ImportFrom
    )
