"""The pipeline's end metric: mean intersection over union."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def mean_iou(
    outputs: Iterable[Mapping[str, np.ndarray]], samples: Iterable[Mapping[str, Any]]
) -> float:
    """Mean over classes of intersection over union, counted over the whole set.

    A class that is in no label and in no prediction has no say.

    Args:
        outputs: {"logits": float [1, classes, height, width]} of each sample.
        samples: The samples, in the same order; labels {"mask": integers [1, height,
            width]}, each below `classes`.

    Returns:
        A ratio between 0 and 1.

    Raises:
        ValueError: no samples, as many outputs as samples are not there, shapes that
            do not fit, a label that is no class, logits that are not finite.
    """
    counts = None
    for output, sample in zip(outputs, samples, strict=True):
        counted = _confusion(output["logits"], sample["labels"]["mask"], sample["id"])
        counts = counted if counts is None else counts + counted
    if counts is None:
        raise ValueError("mean_iou: no samples")
    both = counts.diagonal()
    either = counts.sum(axis=0) + counts.sum(axis=1) - both
    seen = either > 0
    return float((both[seen] / either[seen]).mean())


def _confusion(logits: np.ndarray, mask: np.ndarray, sample: str) -> np.ndarray:
    """Pixels by [label, predicted class]; int64 [classes, classes]."""
    classes = logits.shape[1]
    if logits.shape != (*mask.shape[:1], classes, *mask.shape[1:]):
        raise ValueError(
            f"mean_iou: sample {sample}: logits of shape {logits.shape} do not fit the"
            f" mask's {mask.shape}"
        )
    if not np.isfinite(logits).all():
        raise ValueError(f"mean_iou: sample {sample}: logits hold NaN or infinity")
    if mask.min() < 0 or mask.max() >= classes:
        raise ValueError(
            f"mean_iou: sample {sample}: labels from {mask.min()} to {mask.max()}, but"
            f" the logits have {classes} classes"
        )
    pairs = mask.astype(np.int64) * classes + logits.argmax(axis=1)
    return np.bincount(pairs.ravel(), minlength=classes**2).reshape(classes, classes)
