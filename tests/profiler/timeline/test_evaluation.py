"""Evaluation told from training, from nothing but the order of what the training thread did.

A loop is written as words: ``L1`` an iterator of loader 1 is made, ``D1`` a batch of it, ``E1`` it is exhausted,
``F`` a forward, ``N`` a forward without gradients, ``V`` one with gradients in evaluation mode, ``C`` a loss that is a
module, ``B`` backward, ``O`` an optimizer step.
"""

from collections.abc import Callable

import pytest

from trainrx.profiler.agent import format as layout
from trainrx.profiler.recording import RankRecording
from trainrx.profiler.timeline.evaluation import evaluation_intervals, evaluation_loaders, gradient_share

CODES = {
    "L": layout.LOADER_START, "D": layout.DATA_WAIT, "E": layout.LOADER_END, "F": layout.FORWARD,
    "N": layout.FORWARD, "V": layout.FORWARD, "C": layout.FORWARD, "B": layout.BACKWARD, "O": layout.OPTIMIZER,
}  # fmt: skip
SORTS = {"N": layout.WITHOUT_GRADIENTS, "V": layout.IN_EVALUATION_MODE, "C": layout.OF_NO_PARTS}


def recorded(make: Callable[..., RankRecording], loop: str) -> RankRecording:
    """What was recorded of a loop, each word of it 10 ns long."""
    return make(
        [
            (CODES[word[0]], 10 * at, 10 * at + 10, SORTS.get(word[0], int(word[1:] or 0)))
            for at, word in enumerate(loop.split())
        ]
    )


def marked(make: Callable[..., RankRecording], loop: str) -> str:
    """The same words, those of evaluation in lower case."""
    words = loop.split()
    start, end = evaluation_intervals(recorded(make, loop))
    inside = [
        any(low <= 10 * at < high for low, high in zip(start, end, strict=True)) for at in range(len(words))
    ]
    return " ".join(word.lower() if marks else word for word, marks in zip(words, inside, strict=True))


@pytest.mark.parametrize(
    "loop",
    [
        pytest.param("", id="nothing"),
        pytest.param("F B O F B O", id="no loader"),
        pytest.param("N F B O N F B O", id="a frozen teacher, no loader"),
        pytest.param("L1 D1 N F B O D1 N F B O E1", id="a frozen teacher before the student"),
        pytest.param("L1 D1 F N B O D1 F N B O E1", id="a frozen teacher after the student"),
        pytest.param("L1 D1 F B D1 F B O D1 F B D1 F B O E1", id="accumulation"),
        pytest.param("L1 D1 F B O E1 L1 D1 F B O E1", id="epochs over a loader made anew"),
        pytest.param("L1 D1 D1 F B O D1 F B O D1", id="a prefetcher"),
        pytest.param("L1 D1 F B O F B O D1 F B O F B O", id="two optimizers"),
        pytest.param(
            "L1 D1 V B O D1 V C B O E1", id="training in evaluation mode, to keep norms as they are"
        ),
        pytest.param("L1 D1 F V C B O D1 F V V C B O E1", id="a frozen critic behind the model"),
        pytest.param("L1 D1 V F C B O D1 V F C B O E1", id="a frozen teacher that keeps gradients"),
        pytest.param("L1 D1 F C B O D1 F C B O E1", id="a loss that is a module"),
        pytest.param("L1 D1 N D1 N D1 F B O", id="a training loader that also warms up without gradients"),
    ],
)
def test_training_is_not_taken_for_evaluation(
    make_recording: Callable[..., RankRecording], loop: str
) -> None:
    assert marked(make_recording, loop) == loop


@pytest.mark.parametrize(
    "loop",
    [
        pytest.param("L1 D1 F B O E1 l2 d2 n d2 n e2 L1 D1 F B O E1", id="after each epoch"),
        pytest.param("L1 D1 F B O l2 d2 n e2 D1 F B O", id="between two steps"),
        pytest.param("L1 D1 l2 d2 n d2 n e2 F B O D1 F B O", id="between a fetch and its forward"),
        pytest.param("L1 D1 F B O n n D1 F B O", id="on tensors in memory, after an update"),
        pytest.param("L1 D1 F C B O l2 d2 v c d2 v c e2 D1 F C B O", id="with gradients, and a loss"),
        pytest.param("L1 D1 F B O v v D1 F B O", id="with gradients, on tensors in memory"),
        pytest.param("L1 D1 l2 d2 n e2 F B O D1 l2 d2 n e2 F B O", id="one batch in every step"),
    ],
)
def test_evaluation_is_found(make_recording: Callable[..., RankRecording], loop: str) -> None:
    assert marked(make_recording, loop.upper()) == loop


@pytest.mark.parametrize(
    ("loop", "share"),
    [
        ("L1 D1 F B O L2 D2 V C D2 V C E2 D1 F B O", 1.0),
        ("L1 D1 F B O L2 D2 N C D2 N C E2 D1 F B O", 0.0),
        ("L1 D1 F B O D1 F B O", None),
    ],
)
def test_evaluation_with_gradients_is_told(
    make_recording: Callable[..., RankRecording], loop: str, share: float | None
) -> None:
    assert gradient_share(recorded(make_recording, loop)) == share


@pytest.mark.parametrize(
    ("loop", "only_evaluated"),
    [
        ("L1 D1 F B O L2 D2 N D2 N E2 D1 F B O", {2}),
        ("L1 D1 F B O L1 D1 N D1 N E1", set()),  # one loader for both
        ("L1 D1 F B O D1 F B O", set()),
        ("", set()),
    ],
)
def test_loaders_that_are_only_evaluated_on_are_known(
    make_recording: Callable[..., RankRecording], loop: str, only_evaluated: set[int]
) -> None:
    assert evaluation_loaders(recorded(make_recording, loop)) == only_evaluated
