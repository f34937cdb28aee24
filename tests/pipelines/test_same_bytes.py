"""Two checkouts on unlike machines make the same files."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from tests.checkouts import ALL, Checkout

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("torch", reason="exports a PyTorch model")
pytestmark = pytest.mark.slow

UP_TO_CONVERT = ALL[: ALL.index("convert") + 1]


def digests(folder: Path, umask: int, **environment: str) -> dict[str, dict[str, str]]:
    """Build the PyTorch template of `init` up to convert; stage -> role -> digest."""
    checkout = Checkout(folder, models=(), stand_ins=False)
    assert checkout.doit("init", "seg").code == 0
    before = os.umask(umask)
    try:
        run = checkout.doit("convert:seg", **environment)
    finally:
        os.umask(before)
    assert run.code == 0, run.text
    return {
        stage: {
            role: output["digest"]
            for role, output in json.loads(
                checkout.path(f"build/seg/{stage}/record.json").read_text()
            )["outputs"].items()
        }
        for stage in UP_TO_CONVERT
    }


def test_path_umask_locale_zone_and_hash_seed_change_no_byte(tmp_path: Path) -> None:
    one = digests(tmp_path / "one", 0o022, LC_ALL="C", TZ="UTC", PYTHONHASHSEED="1")
    other = digests(
        tmp_path / "far" / "other",
        0o077,
        LC_ALL="C.UTF-8",
        TZ="Asia/Shanghai",
        PYTHONHASHSEED="2",
    )

    assert one == other
    assert set(one["export"]) == {"exported", "nodes.json"}
