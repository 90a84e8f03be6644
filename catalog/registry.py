"""Finds the method files, holds them as one catalog, and answers what relieves what.

Relations are named in one of the two files and read both ways, so a new method is one file. Whatever spans
files is checked here: double ids, names and knobs, unknown relations, a pair that both conflicts and
synergises.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType

from .errors import CatalogError
from .method import Evidence, Method, method_from
from .stored import fingerprint, load_stored, store
from .vocabulary import Action, Bottleneck, Category, Component, Grade, Subcategory, Subcomponent, Tier

BUNDLED = Path(__file__).parent / "methods"
MAX_FILES = 5000
OWN_METHODS_VARIABLE = "TRAINRX_METHODS"

Relations = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class Catalog:
    """All known methods by id, with the relations read both ways."""

    methods: Mapping[str, Method]
    conflicts: Relations
    synergies: Relations

    def __len__(self) -> int:
        return len(self.methods)

    def relieving(self, kind: Bottleneck | str) -> tuple[Method, ...]:
        """The methods that relieve a bottleneck: core first, then the better backed."""
        word = Bottleneck(str(kind))
        return self.where(lambda method: word in method.relieves)

    def cell(
        self, component: Component, subcomponent: Subcomponent, action: Action | None
    ) -> tuple[Method, ...]:
        """The methods of one cell of the first taxonomy; action None are those that leave learning alone."""
        wanted = (component, subcomponent, action)
        return self.where(
            lambda method: (
                (method.placement.component, method.placement.subcomponent, method.placement.action) == wanted
            )
        )

    def group(self, category: Category, subcategory: Subcategory | None = None) -> tuple[Method, ...]:
        """The methods of a category of the second taxonomy, or of one of its subcategories."""
        return self.where(
            lambda method: (
                method.placement.category is category and subcategory in (None, method.placement.subcategory)
            )
        )

    def search(self, text: str) -> tuple[Method, ...]:
        """The methods that hold every word of the text; hits in id, name and alias come first."""
        words = text.lower().split()
        found = self.where(lambda method: all(word in self._haystacks[method.id] for word in words))
        return tuple(sorted(found, key=lambda method: not _named(method, words)))

    def with_knob(self, knob: str) -> Method | None:
        """The method that a knob belongs to."""
        return self._by_knob.get(knob)

    def where(self, wanted: Callable[[Method], bool]) -> tuple[Method, ...]:
        """The methods for which a test holds, in the catalog's order."""
        return tuple(method for method in self._ordered if wanted(method))

    @cached_property
    def evidence(self) -> tuple[tuple[str, Evidence], ...]:
        """Every evidence row with the id of its method."""
        return tuple((method.id, row) for method in self._ordered for row in method.evidence)

    @cached_property
    def _ordered(self) -> tuple[Method, ...]:
        return tuple(sorted(self.methods.values(), key=_rank))

    @cached_property
    def _by_knob(self) -> Mapping[str, Method]:
        return {method.how.knob: method for method in self.methods.values() if method.how.knob is not None}

    @cached_property
    def _haystacks(self) -> Mapping[str, str]:
        return {method.id: _haystack(method) for method in self.methods.values()}


def load_catalog(*own_folders: Path) -> Catalog:
    """The bundled methods and a user's own.

    ``own_folders`` add to the folders that ``TRAINRX_METHODS`` names (separated as in PATH).

    Raises:
        CatalogError: a file or a relation is wrong; names the file, the field and the reason.
    """
    return catalog_of(method for folder in _folders(own_folders) for method in _methods_in(folder))


def catalog_fingerprint(*own_folders: Path) -> str:
    """Changes when any file that `load_catalog` reads is added, removed or rewritten."""
    return fingerprint([path for folder in _folders(own_folders) for path in method_files(folder)])


def _folders(own: tuple[Path, ...]) -> tuple[Path, ...]:
    return tuple(dict.fromkeys((BUNDLED, *_folders_of_environment(), *own)))


def catalog_of(methods: Iterable[tuple[str, Method]]) -> Catalog:
    """A catalog of (file name, method) pairs, checked across files."""
    by_id, files = _by_id(methods)
    _check_unique(by_id, files, "name", lambda method: (method.name.lower(), *map(str.lower, method.aliases)))
    _check_unique(by_id, files, "how.knob", lambda method: tuple(filter(None, (method.how.knob,))))
    conflicts = _both_ways(by_id, files, "conflicts_with")
    synergies = _both_ways(by_id, files, "synergises_with")
    _check_apart(conflicts, synergies, files)
    return Catalog(MappingProxyType(by_id), MappingProxyType(conflicts), MappingProxyType(synergies))


def _folders_of_environment() -> tuple[Path, ...]:
    named = os.environ.get(OWN_METHODS_VARIABLE, "")
    return tuple(Path(part) for part in named.split(os.pathsep) if part)


def _methods_in(folder: Path) -> list[tuple[str, Method]]:
    files = method_files(folder)
    key = fingerprint(files)
    methods = load_stored(key)
    if methods is None:
        methods = tuple(read_method(path) for path in files)
        store(key, methods)
    return [(path.name, method) for path, method in zip(files, methods, strict=True)]


def method_files(folder: Path) -> list[Path]:
    """The method files of a folder, by name.

    Raises:
        CatalogError: there is no such folder, or it holds too many files.
    """
    if not folder.is_dir():
        raise CatalogError("is no folder; give one that holds method files (<id>.yaml)", file=str(folder))
    files = sorted(folder.resolve().glob("*.yaml"))
    if len(files) > MAX_FILES:
        raise CatalogError(f"holds {len(files)} method files, at most {MAX_FILES} are read", file=str(folder))
    return files


def read_method(path: Path) -> Method:
    """The method of one file, whose name is the id.

    Raises:
        CatalogError: names the file, the field and the reason.
    """
    from .reading import read_yaml  # needs the YAML parser, which a kept catalog does without

    method = method_from(read_yaml(path), file=path.name)
    if path.stem != method.id:
        raise CatalogError(f"reads '{method.id}', expected the file's name", file=path.name, field="id")
    return method


def _by_id(methods: Iterable[tuple[str, Method]]) -> tuple[dict[str, Method], dict[str, str]]:
    by_id: dict[str, Method] = {}
    files: dict[str, str] = {}
    for file, method in methods:
        if method.id in by_id:
            raise CatalogError(f"'{method.id}' is taken by another file already", file=file, field="id")
        by_id[method.id] = method
        files[method.id] = file
    return by_id, files


def _check_unique(
    by_id: Mapping[str, Method],
    files: Mapping[str, str],
    field: str,
    values: Callable[[Method], tuple[str, ...]],
) -> None:
    owners: dict[str, str] = {}
    for method in by_id.values():
        for value in values(method):
            owner = owners.setdefault(value, method.id)
            if owner != method.id:
                raise CatalogError(
                    f"'{value}' is taken by '{owner}' already", file=files[method.id], field=field
                )


def _both_ways(
    by_id: Mapping[str, Method], files: Mapping[str, str], field: str
) -> dict[str, tuple[str, ...]]:
    relations: dict[str, set[str]] = {}
    for method in by_id.values():
        for other in getattr(method, field):
            if other not in by_id:
                raise CatalogError(f"names the unknown method '{other}'", file=files[method.id], field=field)
            relations.setdefault(method.id, set()).add(other)
            relations.setdefault(other, set()).add(method.id)
    return {method_id: tuple(sorted(relations.get(method_id, ()))) for method_id in by_id}


def _check_apart(conflicts: Relations, synergies: Relations, files: Mapping[str, str]) -> None:
    for method_id, others in conflicts.items():
        both = set(others) & set(synergies[method_id])
        if both:
            raise CatalogError(
                f"'{min(both)}' is named as a conflict and as a synergy",
                file=files[method_id],
                field="conflicts_with",
            )


_GRADE_RANK = {Grade.A: 0, Grade.B: 1, Grade.C: 2, Grade.N: 3, None: 3}


def _rank(method: Method) -> tuple[bool, int, str]:
    return (method.tier is not Tier.CORE, _GRADE_RANK[method.best_grade], method.id)


def _haystack(method: Method) -> str:
    reference = method.reference
    parts = (
        method.id, method.name, *method.aliases, method.one_line, reference.title, reference.authors,
        reference.arxiv, reference.docs, method.how.api, method.how.knob,
    )  # fmt: skip
    return "\n".join(part for part in parts if part).lower()


def _named(method: Method, words: list[str]) -> bool:
    names = "\n".join((method.id, method.name, *method.aliases)).lower()
    return all(word in names for word in words)
