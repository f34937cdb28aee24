"""Named tensors of a set of samples, in one folder.

`tensors.json` says what is there; each tensor is one `.npy` file, numbered, so that no
name from a model or a user ever becomes a file name. Types that numpy lacks (bfloat16)
are stored as unsigned integers of the same width, their own name kept in the index.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Self

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path
    from types import TracebackType

    import numpy as np

INDEX = "tensors.json"
ALTERNATIVE = "alternative"
"""Folder in one with outputs: the same samples, if the target does the other thing."""


class TensorSpec(NamedTuple):
    """A tensor's name, numpy (or ml_dtypes) dtype name and shape."""

    name: str
    dtype: str
    shape: tuple[int, ...]


@dataclass(frozen=True)
class Entry:
    """Where one tensor of one sample lies."""

    spec: TensorSpec
    file: str


class TensorWriter:
    """Writes a tensor set; the index is written last, when the block ends well."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        self._folder = folder
        self._samples: list[dict[str, object]] = []

    def write(self, sample_id: str, tensors: Mapping[str, np.ndarray]) -> None:
        """Add one sample; tensors keep order, dtype and shape (scalars stay scalars)."""
        import numpy as np

        entries = {}
        for position, (name, tensor) in enumerate(tensors.items()):
            file = f"{len(self._samples):06d}.{position:03d}.npy"
            array = np.asarray(tensor, order="C")
            np.save(self._folder / file, _storable(array), allow_pickle=False)
            entries[name] = {"file": file, "dtype": array.dtype.name, "shape": array.shape}
        self._samples.append({"id": sample_id, "tensors": entries})

    def __enter__(self) -> Self:
        """Start a set."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Write the index, unless the block raised."""
        if kind is None:
            document = {"schema_version": 1, "samples": self._samples}
            text = json.dumps(document, indent=1, ensure_ascii=True)
            (self._folder / INDEX).write_text(text + "\n", encoding="utf-8")


class TensorSet:
    """Reads a tensor set, one tensor at a time."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        document = json.loads((folder / INDEX).read_text(encoding="utf-8"))
        self.ids: tuple[str, ...] = tuple(sample["id"] for sample in document["samples"])
        self._samples = [
            {
                name: Entry(TensorSpec(name, e["dtype"], tuple(e["shape"])), e["file"])
                for name, e in sample["tensors"].items()
            }
            for sample in document["samples"]
        ]

    def __len__(self) -> int:
        """Return the number of samples."""
        return len(self._samples)

    def specs(self, sample: int) -> tuple[TensorSpec, ...]:
        """Name, dtype and shape of each tensor of sample number `sample`, in order."""
        return tuple(entry.spec for entry in self._samples[sample].values())

    def holds(self, sample: int, name: str) -> bool:
        """Return whether sample number `sample` has a tensor `name`."""
        return name in self._samples[sample]

    def load(self, sample: int, name: str) -> np.ndarray:
        """Read one tensor; raises KeyError when the sample has no tensor `name`."""
        import numpy as np

        entry = self._samples[sample][name]
        array: np.ndarray = np.load(self._folder / entry.file, allow_pickle=False)
        return array.view(tensor_dtype(entry.spec.dtype)).reshape(entry.spec.shape)

    def sample(self, index: int) -> dict[str, np.ndarray]:
        """Read all tensors of one sample."""
        return {name: self.load(index, name) for name in self._samples[index]}

    def __iter__(self) -> Iterator[dict[str, np.ndarray]]:
        """Read sample after sample."""
        for index in range(len(self)):
            yield self.sample(index)


def _storable(array: np.ndarray) -> np.ndarray:
    """Return the same values as .npy can name them, with the least byte first.

    The order of bytes is no part of a dtype's name, by which a tensor is read again.
    """
    if array.dtype.kind == "V":
        return array.view(f"u{array.dtype.itemsize}")
    return array.astype(array.dtype.newbyteorder("<"), copy=False)


def tensor_dtype(name: str) -> np.dtype:
    """Return the dtype called `name`, from numpy or, for bfloat16, from ml_dtypes."""
    import numpy as np

    try:
        return np.dtype(name)
    except TypeError:
        import ml_dtypes

        dtype: np.dtype = np.dtype(getattr(ml_dtypes, name))
        return dtype
