"""``trainrx catalog [list|show|cells]``: browse methods, evidence and both taxonomies.

With ``--json`` exactly one document goes to stdout. The words come from ``app/views/catalog.py``; this file
prints.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .options import DEFAULT_RUNS, AsJson, RunsDir

if TYPE_CHECKING:
    from rich.console import Console

    from ...advisor.trial.own_evidence import OwnEvidence
    from ...catalog import Catalog, Method
    from ..views.catalog import Card, Choice

commands = typer.Typer(
    help="Browse the methods, their evidence and both taxonomies.",
    rich_markup_mode=None,
    add_completion=False,
)

MethodsDir = Annotated[
    list[Path] | None,
    typer.Option("--methods", help="a folder with your own method files (also TRAINRX_METHODS); repeatable"),
]


@commands.callback(invoke_without_command=True)
def catalog(context: typer.Context, as_json: AsJson = False) -> None:
    """Browse the methods, their evidence and both taxonomies; alone, it lists all."""
    if context.invoked_subcommand is None:
        list_methods(as_json=as_json)
    elif as_json:
        from ...profiler.errors import UsageError

        raise UsageError(f"--json stands before '{context.invoked_subcommand}', put it at the end")


@commands.command("list")
def list_methods(
    text: Annotated[str | None, typer.Argument(help="words to search for")] = None,
    relieves: Annotated[str | None, typer.Option(help="a bottleneck, such as data-loading")] = None,
    component: Annotated[str | None, typer.Option(help="function, data, optimization, system")] = None,
    subcomponent: Annotated[str | None, typer.Option(help="such as training-data")] = None,
    action: Annotated[str | None, typer.Option(help="remove … retrofit, or none")] = None,
    category: Annotated[str | None, typer.Option(help="such as model-centric")] = None,
    subcategory: Annotated[str | None, typer.Option(help="such as data-sampling")] = None,
    domain: Annotated[str | None, typer.Option(help="vision, nlp, speech, recsys, tabular, generic")] = None,
    equivalence: Annotated[str | None, typer.Option(help="exact, numerical, semantic")] = None,
    tier: Annotated[str | None, typer.Option(help="core, extended")] = None,
    knob: Annotated[str | None, typer.Option(help="part of a knob's name, such as loader")] = None,
    tryable: Annotated[
        bool | None, typer.Option("--tryable/--not-tryable", help="whether trainrx can try it")
    ] = None,
    methods: MethodsDir = None,
    as_json: AsJson = False,
) -> None:
    """List methods: core first, then the better backed."""
    from ..views.catalog import Choice, chosen, listed, open_catalog

    choice = Choice(
        text=text, relieves=relieves, component=component, subcomponent=subcomponent, action=action,
        category=category, subcategory=subcategory, domain=domain, equivalence=equivalence, tier=tier,
        knob=knob, tryable=tryable,
    )  # fmt: skip
    _check_words(choice)
    known = open_catalog(*methods or ())
    found = chosen(known, choice)
    if as_json:
        _print_json(listed(known, found, choice))
    else:
        _print_list(known, found)


@commands.command()
def show(
    method_id: Annotated[str, typer.Argument(metavar="ID", help="a method's id, such as fused-optimizer")],
    methods: MethodsDir = None,
    runs: RunsDir = DEFAULT_RUNS,
    as_json: AsJson = False,
) -> None:
    """Show the card of a method: what it does, needs, costs, and what is known of its gain, also from trials here."""
    from ...advisor.trial.own_evidence import own_evidence
    from ..views.catalog import card, method_document, open_catalog
    from ..views.own_evidence import own_evidence_table

    known = open_catalog(*methods or ())
    method = _method(known, method_id)
    own = own_evidence(runs, method)
    if as_json:
        _print_json({**method_document(known, method), "measured_here": own_evidence_table(own)})
    else:
        _print_card(card(known, method))
        _print_own_evidence(own, method)


@commands.command()
def cells(methods: MethodsDir = None, as_json: AsJson = False) -> None:
    """Show how many methods each cell of both taxonomies holds."""
    from ..views.catalog import coverage_document, open_catalog

    known = open_catalog(*methods or ())
    if as_json:
        _print_json(coverage_document(known))
    else:
        _print_cells(known)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(commands, name="catalog")


def _check_words(choice: Choice) -> None:
    from ...profiler.errors import UsageError
    from ..views.catalog import allowed_words

    for name, value in choice.as_dict().items():
        allowed = allowed_words(name)
        if allowed and value not in allowed:
            raise UsageError(f"--{name} is '{value}', expected one of {', '.join(allowed)}")


def _method(known: Catalog, method_id: str) -> Method:
    from difflib import get_close_matches

    from ...profiler.errors import UsageError

    if method_id in known.methods:
        return known.methods[method_id]
    near = get_close_matches(method_id, known.methods, n=3) or [m.id for m in known.search(method_id)[:3]]
    hint = f"; near are {', '.join(near)}" if near else "; see 'trainrx catalog list'"
    raise UsageError(f"there is no method '{method_id}'{hint}")


def _print_json(document: object) -> None:
    import json
    import sys

    sys.stdout.write(json.dumps(document, ensure_ascii=False, indent=1) + "\n")


def _console() -> Console:
    from shutil import get_terminal_size

    from ..terminal.console import console

    return console(width=max(80, get_terminal_size((120, 24)).columns))


def _print_list(known: Catalog, found: tuple[Method, ...]) -> None:
    from rich.box import SIMPLE
    from rich.table import Table

    from ..views.catalog import totals_sentence

    table = Table(box=SIMPLE, pad_edge=False)
    for name in ("id", "relieves", "learning", "evidence", "what it does"):
        table.add_column(name, no_wrap=name == "id")
    for method in found:
        table.add_row(*_cells_of(method))
    console = _console()
    console.print(table)
    console.print(f"{len(found)} of {totals_sentence(known)}. See one with: trainrx catalog show ID")


def _cells_of(method: Method) -> tuple[str, str, str, str, str]:
    from ..views.catalog import grades_word

    return (
        method.id,
        ", ".join(method.relieves[:2]),
        str(method.equivalence),
        grades_word(method),
        method.one_line,
    )


def _print_card(shown: Card) -> None:
    from rich.table import Table

    console = _console()
    console.print(f"{shown.title}  ({shown.id}, {shown.tier})")
    console.print(f"{shown.one_line}\n")
    facts = Table.grid("name", "value", padding=(0, 2))
    for name, value in _facts(shown):
        facts.add_row(name, value)
    console.print(facts)
    console.print(f"\nEvidence: {shown.backing}")
    rows = Table.grid("verdict", "claim", padding=(0, 2))
    for line in shown.evidence:
        verdict = line.verdict.upper() if line.verdict == "negative" else line.verdict
        rows.add_row(verdict, f"{line.reported} ({line.claim})")
    console.print(rows)


def _print_own_evidence(own: OwnEvidence, method: Method) -> None:
    from rich.table import Table

    from ..views.own_evidence import own_evidence_sentence, own_evidence_table

    console = _console()
    console.print(f"\nMeasured here: {own_evidence_sentence(own, method)}")
    rows = Table.grid("verdict", "measured", "change", "run", padding=(0, 2))
    for row in own_evidence_table(own):
        rows.add_row(row["verdict"], row["measured"], row["change"], row["run"])
    console.print(rows)


def _facts(shown: Card) -> list[tuple[str, str]]:
    facts = (
        ("also", ", ".join(shown.also)),
        ("relieves", ", ".join(shown.relieves)),
        ("lengthens", ", ".join(shown.lengthens)),
        ("learning", shown.guard),
        ("risk", f"{shown.risk} ({shown.risk_words})"),
        ("needs", "; ".join(shown.needs)),
        ("conflicts", ", ".join(shown.conflicts)),
        ("goes with", ", ".join(shown.synergies)),
        ("how", shown.api or ""),
        ("snippet", shown.snippet or ""),
        ("knob", shown.knob or ""),
        ("works if", "; ".join(shown.expects)),
        ("first", shown.cell),
        ("second", f"{shown.group} ({shown.placed_by})"),
        ("reference", f"{shown.reference}  {shown.reference_url or ''}".rstrip()),
    )
    return [(name, value) for name, value in facts if value]


def _print_cells(known: Catalog) -> None:
    from rich.box import SIMPLE
    from rich.table import Table

    from ...catalog.coverage import groups
    from ..views.catalog import matrix, thin_sentence
    from ..views.tables import NO_EFFECT_ON_LEARNING

    console = _console()
    shown = matrix(known)
    table = Table(
        "component.part",
        *shown.column_labels[:-1],
        NO_EFFECT_ON_LEARNING,
        box=SIMPLE,
        pad_edge=False,
    )
    for label, line in zip(shown.row_labels, shown.cells, strict=True):
        table.add_row(label, *("·" if cell.methods is None else str(cell.methods) for cell in line))
    console.print(table)
    console.print(thin_sentence(known))
    other = Table("category", "group", "methods", "core", "evidence rows", box=SIMPLE, pad_edge=False)
    for group in groups(known):
        counts = (group.methods, group.core, group.evidence_rows)
        other.add_row(str(group.category), str(group.subcategory), *map(str, counts))
    console.print(other)
