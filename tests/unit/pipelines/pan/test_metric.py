from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable


def one_row(predicted: list[int], labelled: list[int], classes: int = 3) -> Any:
    """One output and one sample of 1 x n pixels."""
    logits = np.eye(classes, dtype=np.float32)[predicted].T[None, :, None, :]
    mask = np.array(labelled, np.uint8)[None, None, :]
    return {"logits": logits}, {"id": "row", "labels": {"mask": mask}}


def test_known_counts_give_the_closed_form(pan: Callable[[str], Any]) -> None:
    output, sample = one_row([0, 0, 1, 1, 2], [0, 1, 1, 1, 0])
    # class 0: 1 of 3, class 1: 2 of 3, class 2: 0 of 1
    assert pan("metric").mean_iou([output], [sample]) == pytest.approx((1 / 3 + 2 / 3) / 3)


def test_pixels_are_counted_over_the_set_not_averaged_per_sample(
    pan: Callable[[str], Any],
) -> None:
    first, second = one_row([0, 0, 0, 1], [0, 0, 0, 1]), one_row([1, 1], [0, 1])
    outputs, samples = zip(first, second, strict=True)
    # class 0: 3 of 4, class 1: 2 of 3; class 2 is nowhere
    assert pan("metric").mean_iou(outputs, samples) == pytest.approx((3 / 4 + 2 / 3) / 2)


def test_a_perfect_prediction_is_one_whatever_classes_are_absent(
    pan: Callable[[str], Any],
) -> None:
    output, sample = one_row([2, 2], [2, 2])
    assert pan("metric").mean_iou([output], [sample]) == 1.0


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_logits_that_are_not_finite_are_refused_by_sample(
    pan: Callable[[str], Any], bad: float
) -> None:
    output, sample = one_row([0, 1], [0, 1])
    output["logits"][0, 0, 0, 0] = bad
    with pytest.raises(ValueError, match="sample row: logits hold NaN or infinity"):
        pan("metric").mean_iou([output], [sample])


def test_an_empty_set_is_refused(pan: Callable[[str], Any]) -> None:
    with pytest.raises(ValueError, match="no samples"):
        pan("metric").mean_iou([], [])


def test_a_missing_output_is_refused(pan: Callable[[str], Any]) -> None:
    output, sample = one_row([0], [0])
    with pytest.raises(ValueError, match="argument 2 is longer"):
        pan("metric").mean_iou([output], [sample, sample])


def test_a_label_that_is_no_class_is_refused(pan: Callable[[str], Any]) -> None:
    output, sample = one_row([0], [3])
    with pytest.raises(ValueError, match="labels from 3 to 3, but the logits have 3"):
        pan("metric").mean_iou([output], [sample])


def test_logits_of_another_size_are_refused(pan: Callable[[str], Any]) -> None:
    output, _ = one_row([0], [0])
    _, sample = one_row([0, 0], [0, 0])
    with pytest.raises(ValueError, match="do not fit the mask's"):
        pan("metric").mean_iou([output], [sample])
