"""Text from files cannot format, link, or draw."""

from hypothesis import given
from hypothesis import strategies as st

from trainrx.app.views.markdown import escaped, with_code


def test_marks_are_escaped() -> None:
    assert escaped("[x](javascript:1) $a$ :red[b] <b>") == (r"\[x\]\(javascript\:1\) \$a\$ \:red\[b\] \<b\>")


@given(st.text())
def test_nothing_is_lost(text: str) -> None:
    kept = escaped(text)
    assert len(kept) >= len(text)
    assert kept.replace("\\", "") == text.replace("\\", "")


def test_code_in_a_sentence_of_ours_stays_code() -> None:
    assert with_code("see `trainrx try *`: [x]") == r"see `trainrx try *`\: \[x\]"
    assert "![" not in with_code("``` ![picture](x) `")
    assert with_code("an odd ` mark") == r"an odd \` mark"
