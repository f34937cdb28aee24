from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import onnx
import pytest

from ascendflow.backends.emulator.backend import Emulator
from ascendflow.errors import NotModelledError, StageError
from ascendflow.stages.convert import Convert
from tests.emulation import target
from tests.models import resize_chain
from tests.stages import context

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def config(**changes: str) -> dict[str, str]:
    return {"backend": "emulator", **target(**changes)}


def rewritten(root: Path) -> None:
    (root / "rewritten").mkdir()
    onnx.save(resize_chain("half_pixel"), root / "rewritten" / "model.onnx")


def test_the_emulator_leaves_a_model_and_says_what_it_is(tmp_path: Path) -> None:
    rewritten(tmp_path)
    ctx = context(Convert, tmp_path, config(), Emulator())

    Convert().run(ctx)

    document = json.loads(ctx.outputs["conversion.json"].read_text(encoding="utf-8"))
    assert (ctx.outputs["model"] / "model.emu").is_file()
    assert document["schema_version"] == 1
    assert document["is_real_device"] is False
    assert ctx.findings.facts["conversion"]["backend"] == "emulator"
    assert ctx.findings.facts["conversion"]["modelled_nodes"] > 0


def test_an_unknown_target_is_not_modelled(tmp_path: Path) -> None:
    rewritten(tmp_path)
    ctx = context(Convert, tmp_path, config(cann="9.2"), Emulator())

    with pytest.raises(NotModelledError, match=r"cann '9\.2' is not modelled"):
        Convert().run(ctx)


class Idle(Emulator):
    """A compiler that claims success."""

    def __init__(self, leaves: str | None) -> None:
        self._leaves = leaves

    def compile(
        self,
        onnx: Path,  # noqa: ARG002
        model: Path,
        config: Mapping[str, Any],  # noqa: ARG002
        files: Mapping[str, Path] | None = None,  # noqa: ARG002
    ) -> dict[str, Any]:
        """Write nothing, an empty folder or an empty file."""
        if self._leaves is not None:
            model.mkdir()
            if self._leaves:
                (model / self._leaves).touch()
        return {}


@pytest.mark.parametrize("leaves", [None, "", "model.om"])
def test_success_without_a_model_is_an_error(leaves: str | None, tmp_path: Path) -> None:
    rewritten(tmp_path)

    with pytest.raises(StageError, match="succeeded and left model/ empty"):
        Convert().run(context(Convert, tmp_path, config(), Idle(leaves)))
