"""evaluate: the user's end metric of PyTorch, ONNX and target, on the same samples."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, overload

from ascendflow.documents.json_file import write_json
from ascendflow.errors import StageError
from ascendflow.factories import load_factory, users_code
from ascendflow.tensors import ALTERNATIVE, TensorSet

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from ascendflow.documents.evaluation import Evaluation
    from ascendflow.stages.stage import StageContext


class Evaluate:
    """Compute the end metric three times."""

    name: ClassVar[str] = "evaluate"
    consumes: ClassVar[frozenset[str]] = frozenset({"samples", "golden", "outputs"})
    produces: ClassVar[frozenset[str]] = frozenset({"evaluation.json"})
    computes_floats: ClassVar[bool] = True
    runs_user_code: ClassVar[bool] = True

    @staticmethod
    def tools(config: Mapping[str, Any]) -> tuple[str, ...]:
        """Name numpy, and the types that numpy lacks, where there is a metric."""
        return ("numpy", "ml_dtypes") if config["metric"] is not None else ()

    def run(self, ctx: StageContext) -> None:
        """Write what the metric says of each model; nulls where there is none.

        Raises:
            StageError: the metric cannot be loaded, raises, or returns what is no finite
                number; the message says of which model's outputs.
        """
        document: Evaluation = {
            "schema_version": 1,
            "metric": None,
            "direction": None,
            "torch": None,
            "onnx": None,
            "target": None,
        }
        metric = ctx.config["metric"]
        if metric is not None:
            score = _scorer(ctx.folder, metric, ctx.inputs["samples"])
            document["metric"] = metric["factory"]
            document["direction"] = metric["direction"]
            if (ctx.inputs["golden"] / "torch").is_dir():
                document["torch"] = score("torch", ctx.inputs["golden"] / "torch")
            document["onnx"] = score("onnx", ctx.inputs["golden"] / "onnx")
            sets = [ctx.inputs["outputs"], ctx.inputs["outputs"] / ALTERNATIVE]
            scores = [score("target", each) for each in sets if each.is_dir()]
            # Of two things that the target may do, the worse counts.
            worse = min if metric["direction"] == "higher" else max
            document["target"] = worse(scores)
        write_json(ctx.outputs["evaluation.json"], document)


class Samples(Sequence[dict[str, Any]]):
    """Samples as the user's factory gave them, read when they are asked for.

    Each is `{"id": str, "feeds": {name: array}, "labels": {name: array}}`.
    """

    def __init__(self, folder: Path) -> None:
        self._feeds = TensorSet(folder / "feeds")
        self._labels = TensorSet(folder / "labels")
        self.ids = self._feeds.ids

    def __len__(self) -> int:
        """Return the number of samples."""
        return len(self.ids)

    @overload
    def __getitem__(self, index: int) -> dict[str, Any]: ...

    @overload
    def __getitem__(self, index: slice) -> list[dict[str, Any]]: ...

    def __getitem__(self, index: int | slice) -> dict[str, Any] | list[dict[str, Any]]:
        """Read one sample, or several."""
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        position = range(len(self))[index]
        return {
            "id": self.ids[position],
            "feeds": _Named("feed of the sample", self._feeds.sample(position)),
            "labels": _Named("label of the sample", self._labels.sample(position)),
        }


class _Named(dict[str, Any]):
    """Arrays by name; whoever asks for another name is told which there are."""

    def __init__(self, kind: str, arrays: Mapping[str, Any]) -> None:
        super().__init__(arrays)
        self._kind = kind

    def __missing__(self, name: object) -> NoReturn:
        listed = ", ".join(self) or "none"
        raise KeyError(f"{name!r} is no {self._kind}; it has: {listed}")


class _Outputs(TensorSet):
    """The outputs of one model, sample after sample."""

    def sample(self, index: int) -> dict[str, Any]:
        """Read all outputs of one sample."""
        return _Named("output of the model", super().sample(index))


def _scorer(
    folder: Path, metric: Mapping[str, Any], samples_folder: Path
) -> Callable[[str, Path], float]:
    """Return what scores the outputs in a folder."""
    function = load_factory(folder, metric["module"], metric["factory"])
    where = f"{metric['module']}:{metric['factory']}"
    samples = Samples(samples_folder)

    def score(side: str, outputs_folder: Path) -> float:
        outputs = _Outputs(outputs_folder)
        if not outputs.ids or outputs.ids != samples.ids:
            raise StageError(
                f"evaluate: {len(outputs)} {side} outputs for {len(samples)} samples, "
                "or in another order",
                hint="there must be samples, and one set of outputs for each",
            )
        with users_code(where, f"on the {side} outputs"):
            value = function(outputs, samples, **metric["arguments"])
        return _number(value, f"{where} on the {side} outputs")

    return score


def _number(value: object, where: str) -> float:
    """Return `value` as a finite float, or refuse it."""
    try:
        number = None if isinstance(value, str | bytes | bool) else float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = None
    if number is None:
        raise StageError(
            f"evaluate: {where} returned {value!r}, which is no number",
            hint="return one float",
        )
    if not math.isfinite(number):
        raise StageError(
            f"evaluate: {where} is {number}; NaN and infinity are refused",
            hint="a class that is never predicted has to count as 0, not as 0/0",
        )
    return number
