from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ascendflow.cache.digest import canonical_json, digest_bytes
from ascendflow.cache.staleness import (
    KINDS,
    StaleReason,
    compare_fingerprints,
    compare_outputs,
    compare_reads,
)

A, B = digest_bytes(b"a"), digest_bytes(b"b")
BASE: Any = {
    "schema": 1,
    "stage": "convert",
    "code": A,
    "python": "3.11",
    "config": {"precision_mode": "force_fp16", "inputs": [{"name": "x", "shape": [1, 3]}]},
    "inputs": {"rewritten": A},
    "tools": {"onnx": "1.23.2"},
    "environment": {"OMP_NUM_THREADS": "1"},
    "platform": {"os": "linux", "machine": "x86_64"},
    "seed": 0,
}


def changed(component: str, value: Any) -> Any:
    return copy.deepcopy(BASE) | {component: value}


def said(new: Any) -> list[str]:
    return [str(reason) for reason in compare_fingerprints(BASE, new)]


@pytest.mark.parametrize(
    ("component", "value", "line"),
    [
        (
            "config",
            BASE["config"] | {"precision_mode": "must_keep_origin_dtype"},
            "config.precision_mode changed: 'force_fp16' -> 'must_keep_origin_dtype'",
        ),
        (
            "config",
            BASE["config"] | {"inputs": [{"name": "x", "shape": [2, 3]}]},
            "config.inputs[0].shape[0] changed: 1 -> 2",
        ),
        (
            "config",
            BASE["config"] | {"inputs": []},
            "config.inputs: removed {'name': 'x', 'shape': [1, 3]}",
        ),
        ("config", BASE["config"] | {"cann": None}, "config.cann is new: None"),
        ("config", {"inputs": BASE["config"]["inputs"]}, "is gone, was 'force_fp16'"),
        ("code", B, "code of ascendflow changed: ca978112 -> 3e23e816"),
        ("python", "3.12", "python changed: '3.11' -> '3.12'"),
        ("inputs", {"rewritten": B}, "input rewritten changed: ca978112 -> 3e23e816"),
        ("inputs", {"rewritten": A, "x": B}, "input x is new: 3e23e816"),
        ("tools", {"onnx": "1.24.0"}, "tool onnx changed: '1.23.2' -> '1.24.0'"),
        ("environment", {}, "environment variable OMP_NUM_THREADS is gone, was '1'"),
        (
            "platform",
            {"os": "linux", "machine": "aarch64"},
            "platform.machine changed: 'x86_64' -> 'aarch64'",
        ),
        ("seed", 1, "seed changed: 0 -> 1"),
        ("schema", 2, "schema of the fingerprint changed: 1 -> 2"),
    ],
)
def test_a_changed_component_is_named_with_both_values(
    component: str, value: Any, line: str
) -> None:
    (found,) = said(changed(component, value))

    assert found.endswith(line)


RULE = {"name": "resize-half-pixel", "nodes": None, "count": None}
OTHER = {"name": "other", "nodes": ["/up1/Resize"], "count": None}


@pytest.mark.parametrize(
    ("old", "new", "lines"),
    [
        ([RULE], [], ["config.rules: removed {'name': 'resize-half-pixel'}"]),
        ([], [RULE], ["config.rules: added {'name': 'resize-half-pixel'}"]),
        ([RULE, OTHER], [OTHER], ["config.rules: removed {'name': 'resize-half-pixel'}"]),
        (
            [RULE, RULE, OTHER],
            [OTHER],
            ["config.rules: removed {'name': 'resize-half-pixel'}"] * 2,
        ),
        (
            [OTHER],
            [RULE, {"name": "new"}],
            [
                "config.rules: removed {'name': 'other', 'nodes': ['/up1/Resize']}",
                "config.rules: added {'name': 'resize-half-pixel'}",
                "config.rules: added {'name': 'new'}",
            ],
        ),
        ([1], [True, 1], ["config.rules: added True"]),
        ([RULE], [OTHER], None),
    ],
)
def test_of_a_list_what_went_and_came_is_told_without_defaults(
    old: list[Any], new: list[Any], lines: list[str] | None
) -> None:
    reasons = compare_fingerprints(
        changed("config", {"rules": old}), changed("config", {"rules": new})
    )
    told = [str(reason) for reason in reasons]

    if lines is not None:
        assert told == lines
    else:  # of equal length: item by item
        assert told[0] == "config.rules[0].name changed: 'resize-half-pixel' -> 'other'"


def test_equal_fingerprints_have_no_reason() -> None:
    assert said(copy.deepcopy(BASE)) == []


def test_all_changes_are_told_not_only_the_first() -> None:
    assert len(said(BASE | {"seed": 1, "code": B, "tools": {}})) == 3


def test_a_component_of_another_version_is_told() -> None:
    assert said(BASE | {"moon": "full"}) == [
        "schema of the fingerprint.moon is new: 'full'"
    ]


@pytest.mark.parametrize(("old", "new"), [(1, 1.0), (1, True), (0, False), (0.0, -0.0)])
def test_values_python_calls_equal_are_told_as_their_digests_differ(
    old: Any, new: Any
) -> None:
    reasons = compare_fingerprints(
        changed("config", {"x": old}), changed("config", {"x": new})
    )

    assert [reason.subject for reason in reasons] == ["config.x"]


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(0, 2)
    | st.floats(0, 1)
    | st.sampled_from(["", "a"]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["p", "q"]), inner, max_size=2)
    ),
    max_leaves=5,
)
CONFIGS = st.dictionaries(st.sampled_from(["p", "q"]), VALUES, max_size=2)
STRINGS = st.dictionaries(
    st.sampled_from(["p", "q"]), st.sampled_from([A, B, "1"]), max_size=2
)


@given(CONFIGS, CONFIGS, STRINGS, STRINGS)
def test_there_is_a_reason_if_and_only_if_the_digests_differ(
    old: Any, new: Any, old_inputs: Any, new_inputs: Any
) -> None:
    before = changed("config", old) | {"inputs": old_inputs}
    after = changed("config", new) | {"inputs": new_inputs}
    are_equal = canonical_json(before) == canonical_json(after)

    assert (compare_fingerprints(before, after) == ()) == are_equal


def test_a_long_value_is_cut() -> None:
    (line,) = said(changed("config", BASE["config"] | {"precision_mode": "x" * 500}))

    assert len(line) < 150
    assert line.endswith("...")


def test_reads_tell_what_changed_went_and_appeared() -> None:
    old: Any = {
        "files": {"pipeline:a.py": A, "pipeline:b.py": A},
        "folders": {"pipeline:x": A, "pipeline:y": A},
        "missing": ["pipeline:c.py", "pipeline:d.py"],
        "distributions": {"numpy": "2.2", "cv2": "4"},
    }
    new: Any = {
        "files": {"pipeline:a.py": B, "pipeline:b.py": "missing"},
        "folders": {"pipeline:x": B, "pipeline:y": "missing"},
        "missing": ["pipeline:d.py"],
        "distributions": {"numpy": "2.3", "cv2": "absent"},
    }

    assert [str(reason) for reason in compare_reads(old, new)] == [
        "pipeline:a.py, which it read, changed: ca978112 -> 3e23e816",
        "pipeline:b.py, which it read, is gone",
        "the names in folder pipeline:x changed",
        "pipeline:y, which it read, is gone",
        "pipeline:c.py, which it looked for in vain, is there now",
        "distribution cv2 changed: 4 -> absent",
        "distribution numpy changed: 2.2 -> 2.3",
    ]
    assert compare_reads(old, copy.deepcopy(old)) == ()


def test_outputs_tell_what_was_modified_and_what_is_missing() -> None:
    def output(digest: str) -> Any:
        return {"digest": digest, "files": {"": {"digest": digest, "size": 1}}}

    old = {"model": output(A), "conversion.json": output(A), "log": output(A)}
    reasons = compare_outputs(
        old, {"model": output(B), "conversion.json": None, "log": output(A)}
    )

    assert [str(reason) for reason in reasons] == [
        "output conversion.json is missing",
        "output model was modified after it was built",
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_said_in_one_line(kind: Any) -> None:
    line = str(StaleReason(kind, "it", "1", "2"))

    assert line
    assert not {"\n", "{", "}"} & set(line)


@pytest.mark.parametrize("turned", [False, True])
def test_auto_is_told_as_one_of_the_rules(turned: bool) -> None:
    target = {"cann": "8.1", "soc_version": "Ascend310P3"}
    chosen: Any = {**BASE, "config": {"auto": target, "rules": []}}
    pinned: Any = {**BASE, "config": {"auto": None, "rules": [{"name": "mod-sign"}]}}
    old, new = (pinned, chosen) if turned else (chosen, pinned)
    auto, named = "config.rules: {} 'auto'", "config.rules: {} {{'name': 'mod-sign'}}"
    came, went = (auto, named) if turned else (named, auto)

    told = {str(reason) for reason in compare_fingerprints(old, new)}

    assert told == {came.format("added"), went.format("removed")}


def test_another_target_of_auto_is_told_by_what_changed() -> None:
    old: Any = {**BASE, "config": {"auto": {"cann": "8.1"}}}
    new: Any = {**BASE, "config": {"auto": {"cann": "8.5"}}}

    (reason,) = compare_fingerprints(old, new)

    assert str(reason) == "config.auto.cann changed: '8.1' -> '8.5'"


def test_a_file_of_the_users_is_called_their_code() -> None:
    reason = StaleReason("config", "config.users_code", None, "my_rule.py", is_item=True)

    assert str(reason) == "your code: added my_rule.py"
