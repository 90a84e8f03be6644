"""Hostile and broken YAML is refused with one clear reason, quickly, and nothing of it is kept."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainrx.catalog import CatalogError
from trainrx.catalog.reading import MAX_BYTES, parse_yaml, read_yaml

LAUGHS = "a: &a [x]\n" + "".join(
    f"{b}: &{b} [{', '.join(['*' + a] * 9)}]\n" for a, b in zip("abcdefg", "bcdefgh", strict=True)
)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (LAUGHS, "anchors are not allowed"),
        ("a: &loop [*loop]", "anchors are not allowed"),
        ("a: *nothing", "aliases are not allowed"),
        ("a: !!python/object/apply:os.system ['true']", "tags are not allowed"),
        ("a: !!int 3", "tags are not allowed"),
        ("a: 1\na: 2", "the key 'a' stands twice"),
        ("a:\n  b: 1\n  b: 2", "field 'a': the key 'b' stands twice"),
        ("? [1, 2]\n: 3", "a key must be a plain word"),
        ("a: 1\n---\nb: 2", "2 YAML documents"),
        ("", "0 YAML documents"),
        ("# only a comment", "0 YAML documents"),
        ("a: [1", "not readable as YAML"),
        ("a: \t- b", "not readable as YAML"),
        ("[" * 900 + "]" * 900, "nested deeper than"),
        ("a: " * 40 + "b", "not readable as YAML"),
        ('a: "\\e[31mred"', "field 'a': holds a control character"),
        ('a: "two\\nlines"', "control character or a line break"),
        ('a: "\\u202Eevil"', "control character"),
        ("a: [" + "1," * 30_000 + "]", "more than"),
    ],
)
def test_refusals(text: str, told: str) -> None:
    with pytest.raises(CatalogError) as caught:
        parse_yaml(text)
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_nested_list_names_its_place() -> None:
    with pytest.raises(CatalogError) as caught:
        parse_yaml("evidence:\n  - gain: 1\n  - gain: !!str 2")
    assert caught.value.field == "evidence.1.gain"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("no", "no"), ("1:30", "1:30"), ("2020-01-01", "2020-01-01"), ("0x10", "0x10"), ("1_000", "1_000"),
        ("'2210'", "2210"), ("2210", 2210), ("1.5", 1.5), ("-3e2", -300.0), ("null", None), ("true", True),
        ("~", None), (".inf", ".inf"), ("1e999", "1e999"), ("{}", {}), ("[]", []), ("''", ""),
    ],
)  # fmt: skip
def test_scalars_follow_the_core_schema(text: str, value: object) -> None:
    read = parse_yaml(f"a: {text}")
    assert read == {"a": value}
    assert type(read["a"]) is type(value)  # type: ignore[index]


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        parse_yaml(text)
    except CatalogError as error:
        assert str(error)


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    huge = tmp_path / "huge.yaml"
    huge.write_text("a: " + "x" * MAX_BYTES)
    with pytest.raises(CatalogError, match=r"huge\.yaml: \d+ bytes, but a method file has at most"):
        read_yaml(huge)


def test_a_file_that_is_not_text_is_refused(tmp_path: Path) -> None:
    binary = tmp_path / "binary.yaml"
    binary.write_bytes(b"a: \xff\xfe")
    with pytest.raises(CatalogError, match="not UTF-8"):
        read_yaml(binary)


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.yaml"
    os.mkfifo(pipe)
    with pytest.raises(CatalogError, match="not a regular file"):
        read_yaml(pipe)


def test_a_folder_and_a_missing_file_are_refused(tmp_path: Path) -> None:
    (tmp_path / "folder.yaml").mkdir()
    with pytest.raises(CatalogError, match="not a regular file"):
        read_yaml(tmp_path / "folder.yaml")
    with pytest.raises(CatalogError, match="cannot be read"):
        read_yaml(tmp_path / "absent.yaml")
