"""What the target computes on the way, sample by sample, and whether looking changes it.

Giving every tensor may make a device run otherwise, so the outputs of such a run are held
against those that infer wrote.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ascendflow.errors import InternalError
from ascendflow.graph.files import MODEL_FILE
from ascendflow.stages.pictures import fed_to_target
from ascendflow.tensors import TensorSet

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import numpy as np

    from ascendflow.backends.backend import Backend, Measured
    from ascendflow.stages.stage import StageContext


class InnerTensors:
    """The tensors inside one compiled model.

    Attributes:
        feeds: what the ONNX models are fed, of all samples.
    """

    def __init__(self, ctx: StageContext, model: Path, outputs: TensorSet) -> None:
        self.feeds = TensorSet(ctx.inputs["samples"] / "feeds")
        self._ctx, self._model, self._outputs = ctx, model, outputs

    def of(self, index: int) -> Iterator[tuple[str, np.ndarray]]:
        """Yield every tensor of a sample, by its name in ONNX."""
        ctx = self._ctx
        for name, tensor in self._backend().dump(
            self._model,
            fed_to_target(ctx.inputs["samples"], index, self.feeds.sample(index)),
            threads=ctx.config["threads"],
            options=ctx.config.get("options"),
            warn=self._warn,
        ):
            self._hold_to_infer(index, name, tensor)
            yield name, tensor

    def measured(self, index: int) -> Iterator[Measured]:
        """Yield what the toolchain's own tools measure of a sample's tensors.

        They compare with the model that was compiled, behind the rules.
        """
        onnx, options = self._ctx.inputs["rewritten"], self._ctx.config["options"]
        yield from self._backend().measured(
            self._model, onnx / MODEL_FILE, self.feeds.sample(index), options=options
        )

    def _backend(self) -> Backend:
        if self._ctx.backend is None:
            raise InternalError("what is inside of a target, a backend tells")
        return self._ctx.backend

    def _hold_to_infer(self, index: int, name: str, tensor: np.ndarray) -> None:
        """Warn where a run that gives all tensors gives another output than infer's."""
        if not self._outputs.holds(index, name):
            return
        known = self._outputs.load(index, name)
        changed = _how_changed(known, tensor)
        if changed is not None:
            sample = self._outputs.ids[index]
            self._warn(
                f"compare: giving the tensors inside changes output {name!r} of sample "
                f"{sample!r}: {changed}; tensors inside may be of other values in a run "
                "without"
            )

    def _warn(self, text: str) -> None:
        if text not in self._ctx.findings.warnings:  # a sample may be run again
            self._ctx.findings.warnings.append(text)


def _how_changed(known: np.ndarray, tensor: np.ndarray) -> str | None:
    """Say how two outputs of one sample differ; None where they hold the same numbers."""
    import numpy as np

    if known.shape != tensor.shape or known.dtype != tensor.dtype:
        return (
            f"{known.dtype.name} {list(known.shape)} without, "
            f"{tensor.dtype.name} {list(tensor.shape)} with it"
        )
    is_float = known.dtype.kind not in "iub"
    # bfloat16 and its like are no numbers for numpy's own test.
    wide = [each.astype(np.float64) if is_float else each for each in (known, tensor)]
    same = np.asarray(wide[0] == wide[1])
    if is_float:
        same |= np.isnan(wide[0]) & np.isnan(wide[1])
    if same.all():
        return None
    apart = _distances(*wide)
    apart[same] = -1
    place = tuple(int(each) for each in np.unravel_index(int(apart.argmax()), apart.shape))
    return (
        f"{int(np.count_nonzero(~same))} of {known.size} elements, most at "
        f"{list(place)}, {known[place]} without and {tensor[place]} with it"
    )


def _distances(known: np.ndarray, tensor: np.ndarray) -> np.ndarray:
    """Return how far elements are apart; to or from what is not finite, infinitely."""
    import numpy as np

    with np.errstate(invalid="ignore", over="ignore"):
        apart = np.abs(known.astype(np.float64) - tensor.astype(np.float64))
    return np.where(np.isnan(apart), np.inf, apart)
