from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ascendflow.cache.digest import (
    canonical_json,
    digest_bytes,
    digest_file,
    digest_json,
    digest_tree,
    hex_of,
    short,
)

if TYPE_CHECKING:
    from pathlib import Path

# FIPS 180-2, B.1
ABC = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
)
JSON = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4)
    ),
    max_leaves=12,
)


def reversed_keys(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: reversed_keys(value[key]) for key in reversed(value)}
    return [reversed_keys(inner) for inner in value] if isinstance(value, list) else value


def test_bytes_and_file_have_the_published_digest(tmp_path: Path) -> None:
    (tmp_path / "abc").write_bytes(b"abc")

    assert digest_bytes(b"abc") == ABC
    assert digest_file(tmp_path / "abc") == ABC


@given(JSON)
def test_canonical_json_reads_back_as_the_same_value(value: Any) -> None:
    assert json.loads(canonical_json(value)) == value


@given(JSON)
def test_order_of_keys_does_not_change_canonical_json(value: Any) -> None:
    assert canonical_json(reversed_keys(value)) == canonical_json(value)


@given(JSON, JSON)
def test_values_that_differ_have_different_canonical_json(a: Any, b: Any) -> None:
    same_type_everywhere = repr(reversed_keys(a)) == repr(reversed_keys(b))

    if a != b:
        assert canonical_json(a) != canonical_json(b)
    elif same_type_everywhere:
        assert canonical_json(a) == canonical_json(b)


@pytest.mark.parametrize(
    ("a", "b"), [(1, 1.0), (1, True), (0, False), ("1", 1), (None, "null"), ([], {})]
)
def test_values_python_may_call_equal_are_told_apart(a: Any, b: Any) -> None:
    assert canonical_json({"x": a}) != canonical_json({"x": b})


def test_canonical_json_is_compact_sorted_ascii() -> None:
    value = {"b": [1, 2.5, None], "a": "é"}

    assert canonical_json(value) == b'{"a":"\\u00e9","b":[1,2.5,null]}'


def test_file_names_that_are_no_utf8_can_be_digested() -> None:
    names = [
        b"\xff.npy".decode("utf-8", "surrogateescape"),
        "\N{REPLACEMENT CHARACTER}.npy",
    ]

    assert len({digest_json(name) for name in names}) == 2


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_a_number_that_is_not_finite_is_refused(number: float) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        canonical_json({"x": [number]})


def test_a_key_that_is_no_string_is_refused_since_it_would_equal_its_spelling() -> None:
    with pytest.raises(TypeError, match="must be a string, got 1"):
        canonical_json({"x": ({1: "a"},)})


def test_a_tree_is_the_digest_of_its_sorted_pairs() -> None:
    files = {"b": ABC, "a/c": digest_bytes(b"")}

    assert digest_tree(files) == digest_json([["a/c", digest_bytes(b"")], ["b", ABC]])
    assert digest_tree({"": ABC}) == ABC


@pytest.mark.parametrize(
    "change", [{"a": ABC}, {"b": digest_bytes(b"")}, {"b": ABC, "c": ABC}]
)
def test_a_tree_with_another_name_content_or_file_has_another_digest(
    change: dict[str, str],
) -> None:
    assert digest_tree(change) != digest_tree({"b": ABC})


@pytest.mark.parametrize(
    "wrong",
    ["", "sha256:", ABC[:-1], ABC.upper(), "md5:" + ABC[7:], ABC[:-2] + "/x", ABC[7:]],
)
def test_what_is_no_digest_never_becomes_a_path(wrong: str) -> None:
    with pytest.raises(ValueError, match="is not a digest"):
        hex_of(wrong)


def test_a_digest_is_shown_short_and_other_text_whole() -> None:
    assert short(ABC) == "ba7816bf"
    assert short("missing") == "missing"
