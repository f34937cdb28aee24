"""onnxsim, with milder settings to fall back on, and without torch behind its back."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from ascendflow.errors import StageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    import onnx

    from ascendflow.documents.simplification import FailedSetting

    Simplify = Callable[..., tuple[onnx.ModelProto, bool]]

NO_FUSION = {"perform_optimization": False}
NO_FOLDING = {**NO_FUSION, "skip_constant_folding": True}
SETTINGS: tuple[tuple[str, Mapping[str, bool]], ...] = (
    ("full", {}),
    ("without fusion", NO_FUSION),
    ("without fusion and constant folding", NO_FOLDING),
    (
        "without fusion, folding and shape inference",
        {**NO_FOLDING, "skip_shape_inference": True},
    ),
)
"""What is tried, from the strongest to the mildest."""


class Simplified(NamedTuple):
    """What the simplifier made, under which setting, and which settings raised."""

    model: onnx.ModelProto
    setting: str
    failed: list[FailedSetting]


def simplify(path: Path, tool: Simplify | None = None) -> Simplified:
    """Simplify the model at `path` under the strongest setting that does not raise.

    Dynamic dimensions stay as they are. The result is not trusted: onnxsim can change
    values, so the caller compares outputs.

    Args:
        path: a valid ONNX file; its external data lies beside it.
        tool: stands in for onnxsim.simplify.

    Raises:
        StageError: every setting raises, or onnxsim itself calls its result wrong.
    """
    failed: list[FailedSetting] = []
    with _torch_hidden():
        run = tool or _onnxsim()
        for setting, options in SETTINGS:
            try:
                model, is_ok = run(str(path), **options)
            except Exception as error:  # noqa: BLE001 - native code raises what it likes
                failed.append({"setting": setting, "error": _without_paths(error, path)})
                continue
            if not is_ok:
                raise StageError(
                    f"onnxsim ({setting}) calls its own result wrong",
                    hint="set simplify.enabled: false",
                )
            return Simplified(model, setting, failed)
    raise StageError(
        "onnxsim fails under every setting: "
        + "; ".join(f"{f['setting']}: {f['error']}" for f in failed),
        hint="set simplify.enabled: false",
    )


def _onnxsim() -> Simplify:
    import onnxsim

    found: Simplify = onnxsim.simplify
    return found


@contextmanager
def _torch_hidden() -> Iterator[None]:
    """Keep onnxsim from importing torch, for which it has no use here: that takes 1.5 s."""
    if "torch" in sys.modules:
        yield
        return
    modules: dict[str, Any] = sys.modules
    modules["torch"] = None
    try:
        yield
    finally:
        del modules["torch"]


def _without_paths(error: Exception, path: Path) -> str:
    """Return the first line of an error, without the folder it happened in."""
    first = str(error).strip().partition("\n")[0].replace(f"{path.parent}/", "")
    return f"{type(error).__name__}: {first}"
