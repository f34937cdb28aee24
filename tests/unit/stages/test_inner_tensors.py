"""A run that gives every tensor is held against the run that did not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import ml_dtypes
import numpy as np
import pytest

from ascendflow.backends.backend import Measured
from ascendflow.errors import InternalError
from ascendflow.stages.inner_tensors import InnerTensors
from ascendflow.stages.stage import Findings, StageContext
from ascendflow.tensors import TensorSet, TensorWriter

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from ascendflow.backends.backend import Backend

Y = np.array([[0.75, 2, np.nan, np.inf]], np.float32)


class Target:
    """Gives what it is told to, and keeps what it is given."""

    def __init__(self, *given: tuple[str, Any]) -> None:
        self.given = given
        self.seen: list[Any] = []

    def dump(
        self, model: Path, feeds: Mapping[str, np.ndarray], **options: Any
    ) -> Iterator[tuple[str, np.ndarray]]:
        self.seen.append((model.name, dict(feeds), options["options"]))
        options["warn"]("compare: told")
        for name, array in self.given:
            yield name, np.asarray(array)

    def measured(
        self, model: Path, onnx: Path, feeds: Mapping[str, np.ndarray], **options: Any
    ) -> Iterator[Measured]:
        self.seen.append((model.name, onnx, dict(feeds), options["options"]))
        yield Measured("a", {"cosine_similarity": 1.0}, None)


def write(folder: Path, *samples: dict[str, np.ndarray]) -> TensorSet:
    with TensorWriter(folder) as writer:
        for number, sample in enumerate(samples):
            writer.write(f"s{number}", sample)
    return TensorSet(folder)


def made(
    folder: Path, target: Target | None, known: np.ndarray = Y
) -> tuple[InnerTensors, list[str]]:
    write(folder / "samples" / "feeds", {"x": np.zeros(2, np.float32)}, {"x": np.ones(2)})
    outputs = write(folder / "outputs", {"y": known}, {"y": known})
    findings = Findings()
    ctx = StageContext(
        config={"threads": 1, "options": {"device": 3}},
        inputs={role: folder / role for role in ("samples", "rewritten")},
        files={},
        outputs={},
        folder=folder,
        backend=cast("Backend", target),
        seed=0,
        findings=findings,
    )
    return InnerTensors(ctx, folder / "model", outputs), findings.warnings


def test_same_bits_are_no_change_and_what_the_backend_warns_of_is_told_once(
    tmp_path: Path,
) -> None:
    target = Target(("a", [1.0]), ("y", Y))
    inner, warned = made(tmp_path, target)

    assert [name for name, _ in inner.of(1)] == ["a", "y"]
    assert [name for name, _ in inner.of(1)] == ["a", "y"]

    assert warned == ["compare: told"]
    name, feeds, options = target.seen[0]
    assert (name, options) == ("model", {"device": 3})
    assert feeds["x"].tolist() == [1, 1]


def changed(tmp_path: Path, known: np.ndarray, given: np.ndarray) -> str:
    inner, warned = made(tmp_path, Target(("y", given)), known)
    assert dict(inner.of(1))["y"] is given
    _, text = warned
    return text


def test_output_that_changes_is_told_with_both_values(tmp_path: Path) -> None:
    given = np.array([[0.75, 2.5, np.nan, np.inf]], np.float32)
    text = changed(tmp_path, Y, given)
    assert "changes output 'y' of sample 's1': 1 of 4 elements" in text
    assert "most at [0, 1], 2.0 without and 2.5 with it" in text


@pytest.mark.parametrize(
    ("known", "given", "told"),
    [
        ([1.0, np.inf], [1.5, np.nan], "2 of 2 elements, most at [1], inf without and nan"),
        ([1.0, 2.0], [np.nan, 2.0], "1 of 2 elements, most at [0], 1.0 without and nan"),
        ([np.inf], [-np.inf], "1 of 1 elements, most at [0], inf without and -inf"),
        ([3, 2**53], [3, 2**53 + 1], "1 of 2 elements, most at [1], 9007199254740992 "),
        ([True], [False], "1 of 1 elements, most at [0], True without and False"),
        ([1.0], [1.0, 1.0], "float64 [1] without, float64 [2] with it"),
        ([1.0], [1], "float64 [1] without, int64 [1] with it"),
        (2.0, 3.0, "1 of 1 elements, most at [], 2.0 without and 3.0"),
    ],
)
def test_every_kind_of_change_is_told(
    tmp_path: Path, known: Any, given: Any, told: str
) -> None:
    assert told in changed(tmp_path, np.array(known), np.array(given))


def test_bfloat16_is_compared_too(tmp_path: Path) -> None:
    known = np.array([1, np.nan], ml_dtypes.bfloat16)
    inner, warned = made(tmp_path / "same", Target(("y", known)), known)
    assert len(list(inner.of(0))) == 1
    assert warned == ["compare: told"]
    other = np.array([1.5, np.nan], ml_dtypes.bfloat16)
    assert "1 of 2 elements" in changed(tmp_path / "other", known, other)


def test_target_gets_the_picture_where_there_is_one(tmp_path: Path) -> None:
    target = Target()
    inner, _ = made(tmp_path, target)
    picture = np.full((1, 2, 2, 3), 7, np.uint8)
    write(tmp_path / "samples" / "pictures", {"x": picture - 7}, {"x": picture})

    list(inner.of(1))

    ((_, feeds, _),) = target.seen
    assert (feeds["x"].dtype, feeds["x"].shape) == (np.uint8, (1, 2, 2, 3))
    assert feeds["x"].max() == 7


def test_tools_of_the_backend_get_the_model_that_was_compiled(tmp_path: Path) -> None:
    target = Target()
    inner, _ = made(tmp_path, target)

    assert list(inner.measured(1)) == [Measured("a", {"cosine_similarity": 1.0}, None)]

    ((name, onnx, feeds, options),) = target.seen
    assert (name, onnx) == ("model", tmp_path / "rewritten" / "model.onnx")
    assert (feeds["x"].tolist(), options) == ([1, 1], {"device": 3})


def test_without_a_backend_nothing_can_be_given(tmp_path: Path) -> None:
    inner, _ = made(tmp_path, None)
    for given in (inner.of(0), inner.measured(0)):
        with pytest.raises(InternalError):
            list(given)
