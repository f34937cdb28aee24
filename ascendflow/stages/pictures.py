"""Samples of a model whose target prepares pictures: what is fed, and what ONNX gets.

A device takes the picture; every other model of the pipeline takes the input that AIPP
makes of it. Both come from the same bytes, once, when samples are made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ascendflow.atc_words import PICTURES_OF
from ascendflow.tensors import TensorSet, TensorSpec, tensor_dtype

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    import numpy as np

    Feeds = Mapping[str, np.ndarray]
    Shapes = Mapping[str, Sequence[Any]]

FOLDER = "pictures"
"""In `samples`, beside `feeds`: the tensor set of the inputs that AIPP prepares."""
BYTES = (0, 256)


class Pictures:
    """What AIPP does before the model.

    Attributes:
        aipp: input -> its block of `convert.aipp`.
        inputs: the model's.
    """

    def __init__(
        self, aipp: Mapping[str, Mapping[str, Any]], inputs: Sequence[TensorSpec]
    ) -> None:
        self.aipp = aipp
        self.inputs = inputs

    @property
    def fed(self) -> tuple[TensorSpec, ...]:
        """The inputs as samples hold them: pictures are uint8, (n, h, w, c)."""
        return tuple(
            TensorSpec(each.name, "uint8", tuple(self._shape(each.name, each.shape)))
            if each.name in self.aipp
            else each
            for each in self.inputs
        )

    def shapes(self, admitted: Sequence[Shapes]) -> list[Shapes]:
        """Return the shapes that samples may have, of those that the model may get."""
        return [
            {name: self._shape(name, shape) for name, shape in each.items()}
            for each in admitted
        ]

    def of(self, feeds: Feeds) -> dict[str, np.ndarray]:
        """Pick the pictures."""
        return {name: array for name, array in feeds.items() if name in self.aipp}

    def prepared(self, feeds: Feeds) -> dict[str, np.ndarray]:
        """Return what the model gets, in the order of its inputs."""
        from ascendflow.stages.aipp_steps import prepared

        made = {}
        for each in self.inputs:
            array = feeds[each.name]
            if each.name in self.aipp:
                array = prepared(array, self.aipp[each.name], each.shape[1])
                array = array.astype(tensor_dtype(each.dtype))
            made[each.name] = array
        return made

    def _shape(self, name: str, shape: Sequence[Any]) -> Sequence[Any]:
        if name not in self.aipp:
            return shape
        aipp = self.aipp[name]
        batch, _, *size = shape
        height, width = aipp.get("src_image_size") or size
        return [batch, height, width, dict(PICTURES_OF)[aipp["input_format"]]]


def has_pictures(samples: Path) -> bool:
    """Whether a device is fed otherwise than the other models."""
    return (samples / FOLDER).is_dir()


def fed_to_target(samples: Path, index: int, feeds: Feeds) -> dict[str, np.ndarray]:
    """Put the pictures of one sample in place of what was made of them.

    Args:
        samples: the artifact.
        index: which sample.
        feeds: what the model gets of it.
    """
    if not has_pictures(samples):
        return dict(feeds)
    return {**feeds, **TensorSet(samples / FOLDER).sample(index)}


def with_pictures(samples: Path, feeds: Iterator[Feeds]) -> Iterator[dict[str, np.ndarray]]:
    """Put the pictures in place of what was made of them, sample by sample.

    Args:
        samples: the artifact.
        feeds: what the model gets, of all samples in order.
    """
    if not has_pictures(samples):
        yield from map(dict, feeds)
        return
    for prepared, pictures in zip(feeds, TensorSet(samples / FOLDER), strict=True):
        yield {**prepared, **pictures}
