"""What is said of a process that failed."""

import pytest

from trainrx.profiler.exit_code import how_it_failed


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (3, "failed with exit code 3"),
        (-11, "was killed by SIGSEGV"),
        (-9, "was killed by SIGKILL, most likely because memory ran out"),
        (
            137,
            "was killed by SIGKILL, most likely because memory ran out",
        ),  # as a shell or a container tells it
        (139, "failed with exit code 139"),
        (-1000, "was killed by signal 1000"),
    ],
)
def test_a_failure_is_told_in_words(code: int, words: str) -> None:
    assert how_it_failed(code) == words
