"""Errors that end a command with one clear sentence.

::

    TrainrxError            (exit code of its subclass)
    ├── UsageError      2   the call is wrong: the user changes the command
    ├── InputError      3   a file or folder cannot be read: the user changes the input
    └── NotEnoughEvidence 4 the run cannot answer: the user records more

A message names the thing, its value, what was expected and the next step.
"""

from __future__ import annotations

from typing import ClassVar


class TrainrxError(Exception):
    """Base of all errors that a user can act on."""

    exit_code: ClassVar[int] = 1


class UsageError(TrainrxError):
    """The command or its options are wrong."""

    exit_code = 2


class InputError(TrainrxError):
    """A file, folder or stored run cannot be read."""

    exit_code = 3


class NotEnoughEvidence(TrainrxError):
    """What was recorded does not suffice for an answer."""

    exit_code = 4
