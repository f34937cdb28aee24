from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest

from ascendflow.cache.digest import digest_bytes, digest_json
from ascendflow.cache.fingerprint import base_of, fingerprint, key_of

if TYPE_CHECKING:
    from ascendflow.documents.record import Fingerprint, Reads

A, B = digest_bytes(b"a"), digest_bytes(b"b")
PARTS: dict[str, Any] = {
    "stage": "convert",
    "code": A,
    "config": {"soc_version": "Ascend310P3", "precision_mode": "force_fp16"},
    "inputs": {"rewritten": A},
    "tools": {"onnx": "1.23.2"},
    "environment": {"OMP_NUM_THREADS": "1"},
    "floats": False,
    "seed": 0,
}


def made(**changes: Any) -> Fingerprint:
    return fingerprint(**(PARTS | changes))


@pytest.mark.parametrize(
    "change",
    [
        {"stage": "infer"},
        {"code": B},
        {"config": {"soc_version": "Ascend310P3", "precision_mode": "force_fp32"}},
        {"inputs": {"rewritten": B}},
        {"inputs": {"simplified": A}},
        {"tools": {"onnx": "1.23.3"}},
        {"environment": {"OMP_NUM_THREADS": "2"}},
        {"environment": {}},
        {"floats": True},
        {"seed": 1},
    ],
    ids=str,
)
def test_each_component_changes_the_base(change: dict[str, Any]) -> None:
    assert base_of(made(**change)) != base_of(made())


def test_interpreter_invalidates_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    before = made()
    monkeypatch.setattr(sys, "version_info", type("V", (), {"major": 3, "minor": 99}))

    assert made()["python"] == "3.99"
    assert base_of(made()) != base_of(before)


def test_unexported_variable_does_not_invalidate_cache(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = base_of(made())
    for name in ("HOME", "PATH", "LANG", "USER", "TZ", "OMP_NUM_THREADS"):
        monkeypatch.setenv(name, "other")

    assert base_of(made()) == before


def test_order_of_keys_does_not_change_the_base() -> None:
    config = dict(reversed(PARTS["config"].items()))

    assert base_of(made(config=config)) == base_of(made())


def test_base_and_key_are_the_digests_of_what_is_in_the_record() -> None:
    reads: Reads = {
        "files": {"pipeline:a": A},
        "folders": {},
        "missing": [],
        "distributions": {},
    }
    base = base_of(made())

    assert base == digest_json(made())
    assert key_of(base, reads) == digest_json({"base": base, "reads": reads})
