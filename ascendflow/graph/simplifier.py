"""onnxsim, with milder settings to fall back on, and no import that it does not need."""

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
IDLE = ("torch", "onnx_ir", "sympy")
"""Onnxsim imports them where they are installed: 1.5 s for torch, 0.3 s for the others."""


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
    with _idle_hidden():
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
def _idle_hidden() -> Iterator[None]:
    """Keep onnxsim from importing what it has no use for here."""
    modules: dict[str, Any] = sys.modules
    hidden = [name for name in IDLE if name not in modules]
    modules.update(dict.fromkeys(hidden))
    try:
        yield
    finally:
        for name in hidden:
            del modules[name]


def _without_paths(error: Exception, path: Path) -> str:
    """Return the first line of an error, without the folder it happened in."""
    first = str(error).strip().partition("\n")[0].replace(f"{path.parent}/", "")
    return f"{type(error).__name__}: {first}"
