from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ascendflow.backends.emulator.backend import Emulator
from ascendflow.errors import StageError
from ascendflow.stages.infer import Infer
from ascendflow.tensors import ALTERNATIVE, TensorSet
from tests.emulation import convert
from tests.models import F32, model, node
from tests.stages import context, write_set

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

INPUTS = [{"name": "x", "dtype": "float32", "shape": [2]}]
CONFIG = {"backend": "emulator", "threads": 1, "inputs": INPUTS}
FEEDS = [{"x": np.array([1, 2], F32)}, {"x": np.array([3, 4], F32)}]
GOLDEN = [{"y": np.array([-1, -2], F32)}, {"y": np.array([-3, -4], F32)}]


class Scripted(Emulator):
    """Gives the outputs that a test wants, one per sample."""

    def __init__(self, outputs: list[dict[str, np.ndarray]]) -> None:
        self._outputs = outputs

    def infer(
        self,
        model: Path,  # noqa: ARG002
        feeds: Iterable[Mapping[str, np.ndarray]],
        *,
        threads: int,  # noqa: ARG002
        options: Mapping[str, Any] | None = None,  # noqa: ARG002
    ) -> Iterator[dict[str, np.ndarray]]:
        """Read the feeds, as a backend would."""
        for _, outputs in zip(feeds, self._outputs, strict=False):
            yield outputs


def prepare(
    root: Path,
    backend: Any,
    feeds: list[dict[str, np.ndarray]] = FEEDS,
    golden: list[dict[str, np.ndarray]] = GOLDEN,
) -> Any:
    write_set(root / "samples" / "feeds", feeds)
    write_set(root / "golden" / "onnx", golden)
    (root / "model").mkdir(exist_ok=True)
    return context(Infer, root, CONFIG, backend)


def test_outputs_of_every_sample_are_written_under_its_id(tmp_path: Path) -> None:
    convert(model([node("Neg", ["x"], ["y"])], [("x", [2])], [("y", [2])]), tmp_path)
    ctx = prepare(tmp_path, Emulator())

    Infer().run(ctx)

    outputs = TensorSet(ctx.outputs["outputs"])
    assert outputs.ids == ("0", "1")
    assert [each["y"].tolist() for each in outputs] == [[-1, -2], [-3, -4]]


@pytest.mark.parametrize(
    ("outputs", "fault"),
    [
        ({}, "'y' is missing"),
        (
            {"y": np.zeros(2, F32), "z": np.zeros(1, F32)},
            "'z' is not an output of the golden",
        ),
        ({"y": np.zeros(2, np.float16)}, "'y' is float16, golden float32"),
        ({"y": np.zeros(3, F32)}, r"'y' has shape \(3,\), golden \(2,\)"),
        ({"y": np.zeros(0, F32)}, r"'y' is empty, golden has shape \(2,\)"),
    ],
)
def test_an_output_of_another_kind_is_an_error(
    outputs: dict[str, np.ndarray], fault: str, tmp_path: Path
) -> None:
    with pytest.raises(StageError, match=f"sample '0', output .*{fault}"):
        Infer().run(prepare(tmp_path, Scripted([outputs, GOLDEN[1]])))


def test_all_faults_are_listed_at_once(tmp_path: Path) -> None:
    wrong = [{"y": np.zeros(3, np.float16)}, {}]

    with pytest.raises(StageError) as caught:
        Infer().run(prepare(tmp_path, Scripted(wrong)))

    assert len(str(caught.value).splitlines()) == 4  # three faults and the hint


def test_an_empty_output_passes_where_the_golden_is_empty(tmp_path: Path) -> None:
    empty = [{"y": np.zeros((0, 4), F32)}] * 2

    Infer().run(prepare(tmp_path, Scripted(empty), golden=empty))


def test_a_sample_that_got_lost_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(StageError, match="2 samples went in, 1 came out"):
        Infer().run(prepare(tmp_path, Scripted(GOLDEN[:1])))


def test_samples_other_than_the_goldens_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(StageError, match="are not the golden's"):
        Infer().run(prepare(tmp_path, Scripted(GOLDEN), golden=GOLDEN[:1]))


@pytest.mark.parametrize(
    ("feed", "fault"),
    [
        (
            {"x": np.zeros(2)},
            r"'x' is \('float64', \(2,\)\), declared as \('float32', \(2,\)\)",
        ),
        ({"x": np.zeros((1, 2), F32)}, r"'x' is \('float32', \(1, 2\)\)"),
        ({"w": np.zeros(2, F32)}, "'w' is .*; 'x' is None"),
    ],
)
def test_feeds_that_do_not_fit_the_inputs_are_an_error(
    feed: dict[str, np.ndarray], fault: str, tmp_path: Path
) -> None:
    with pytest.raises(StageError, match=f"sample '1' does not fit the inputs: {fault}"):
        Infer().run(prepare(tmp_path, Scripted(GOLDEN), feeds=[FEEDS[0], feed]))


def test_of_two_behaviours_both_are_run(tmp_path: Path) -> None:
    class Undecided(Emulator):
        """May give minus the input, or the input."""

        def behaviours(self, model: Path) -> dict[str, Path]:
            return {"one": model, "other": model / "alternative"}

        def infer(
            self,
            model: Path,
            feeds: Iterable[Mapping[str, np.ndarray]],
            *,
            threads: int,  # noqa: ARG002
            options: Mapping[str, Any] | None = None,  # noqa: ARG002
        ) -> Iterator[dict[str, np.ndarray]]:
            for fed in feeds:
                yield {"y": -fed["x"] if model.name == "model" else fed["x"]}

    ctx = prepare(tmp_path, Undecided())

    Infer().run(ctx)

    first = TensorSet(ctx.outputs["outputs"])
    second = TensorSet(ctx.outputs["outputs"] / ALTERNATIVE)
    assert first.ids == second.ids == ("0", "1")
    assert [each["y"].tolist() for each in first] == [[-1, -2], [-3, -4]]
    assert [each["y"].tolist() for each in second] == [[1, 2], [3, 4]]
