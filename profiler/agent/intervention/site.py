"""One knob's access to the process it is put on in: what it may wait for, and whom it tells what it did."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from .construction import Construction
from .model_calls import ModelCalls
from .steps import StepWatch

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..imports import ImportWatch
    from .construction import Change
    from .journal import Journal
    from .model_calls import Around
    from .setup import Setup

    #: A knob's ``applies``, ``install`` and ``snippet``.
    Actions = tuple[Callable[[Setup], str | None], Callable[[Any, "Site"], None], Callable[[Any], str]]


class Process:
    """What all knobs of a process share.

    ``skip_in_dynamo`` is told each wrapper around torch's functions that TorchDynamo is to leave alone.
    """

    def __init__(self, watch: ImportWatch, journal: Journal, skip_in_dynamo: Callable[[Any], None]) -> None:
        self.watch = watch
        self.journal = journal
        self.construction = Construction(watch)
        self.steps = StepWatch(watch)
        self.models = ModelCalls(watch, self.steps, skip_in_dynamo)


class Site:
    """Where one knob acts."""

    def __init__(self, knob: str, process: Process) -> None:
        self._knob = knob
        self._process = process

    def applied(self, detail: str) -> None:
        """The knob has changed something, and what."""
        self._process.journal.tell(self._knob, "applied", detail)

    def not_applied(self, reason: str) -> None:
        """The knob met what it acts on and left it as it is."""
        self._process.journal.tell(self._knob, "not applied", reason)

    def when_imported(self, module: str, after: Callable[[Any], None]) -> None:
        """Call ``after(module)`` once the module is imported."""
        self._process.watch.when_imported(module, self._guarded(after))

    def on_construction(
        self, module: str, names: tuple[str, ...], change: Change, *, first: bool = False
    ) -> None:
        """Have ``change`` look at the arguments of every construction of these classes, by name.

        It changes the mapping in place. ``first`` puts it before the other knobs' changes.
        """
        self._process.construction.add(module, names, self._guarded(change), first=first)

    def on_constructed(self, module: str, name: str, after: Callable[[Any], None]) -> None:
        """Call ``after(object)`` for every new object of a class."""
        self._process.construction.after(module, name, self._guarded(after))

    def on_model(self, meet: Callable[[Any], None]) -> None:
        """Call ``meet(module)`` before the first outermost call of each module that has parameters."""
        self._process.models.meet(self._guarded(meet))

    def around_model(self, around: Around) -> None:
        """Run the outermost calls of the models that were met through ``around(module, call, args, kwargs)``."""
        self._process.models.around(around)

    def before_step(self, before: Callable[[Any], None]) -> None:
        """Call ``before(optimizer)`` whenever an optimizer is about to step."""
        self._process.steps.before(self._guarded(before))

    def after_step(self, after: Callable[[Any], None]) -> None:
        """Call ``after(optimizer)`` whenever an optimizer has stepped."""
        self._process.steps.after(self._guarded(after))

    def _guarded(self, function: Callable[..., None]) -> Callable[..., None]:
        """The same function; where it raises, that is told and the training goes on."""

        def guarded(*args: Any) -> None:
            try:
                function(*args)
            except Exception as error:
                self._process.journal.tell(self._knob, "failed", f"{type(error).__name__}: {error}")

        return guarded


def loaded(module: str) -> Any:
    """A module of torch that is imported already."""
    return sys.modules[module]
