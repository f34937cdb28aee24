"""What a sample must be before anything is computed from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ascendflow.vocabulary import DTYPES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy as np

    from ascendflow.stages.sample_shapes import SampleShapes
    from ascendflow.tensors import TensorSpec

KEYS = ("id", "feeds", "labels")


class Unlike(str):
    """A problem of a feed's name, dtype or shape: the manifest's inputs may be wrong."""

    __slots__ = ()


def sample_problems(
    sample: Any, inputs: Sequence[TensorSpec], shapes: SampleShapes | None = None
) -> Iterator[str]:
    """Say what is wrong with one sample, apart from its id.

    Args:
        sample: what a factory yielded.
        inputs: the model's inputs as the manifest declares them; feeds must match them
            exactly, since a silent cast or broadcast changes what is measured.
        shapes: what feeds may be shaped like, where that is more than the inputs' own.
    """
    unknown = [key for key in sample if key not in KEYS]
    if unknown:
        yield f"has unknown keys {unknown}; it may have: {', '.join(KEYS)}"
    feeds, labels = sample.get("feeds"), sample.get("labels", {})
    if not is_mapping(feeds):
        yield f"feeds is a {_kind(feeds)}, not a mapping of input names to arrays"
    else:
        yield from map(Unlike, _feed_problems(feeds, inputs, is_shape_told=shapes is None))
        if shapes is not None and _are_whole(feeds, inputs):
            fed = {s.name: feeds[s.name].shape for s in inputs}
            yield from map(Unlike, shapes.problems(fed))
        yield from _value_problems(feeds, inputs)
    if not is_mapping(labels):
        yield f"labels is a {_kind(labels)}, not a mapping of names to arrays"
    else:
        yield from _label_problems(labels)


def unknown_feeds(sample: Any, inputs: Sequence[TensorSpec]) -> list[str]:
    """Name what a sample feeds that is no input."""
    feeds: Any = sample.get("feeds") if is_mapping(sample) else None
    names = [spec.name for spec in inputs]
    return [name for name in feeds if name not in names] if is_mapping(feeds) else []


def why_bad_id(sample_id: Any, seen: set[str]) -> str | None:
    """Return why a sample cannot be told from the others by its id, or None."""
    if not isinstance(sample_id, str):
        return f"its id is a {_kind(sample_id)}, not a str"
    if not sample_id:
        return "its id is empty"
    if sample_id in seen:
        return "another sample has the same id; give each its own"
    return None


def is_mapping(value: Any) -> bool:
    """Return whether `value` maps str keys to something."""
    from collections.abc import Mapping as MappingType

    return isinstance(value, MappingType) and all(isinstance(key, str) for key in value)


def _are_whole(feeds: Mapping[str, Any], inputs: Sequence[TensorSpec]) -> bool:
    """Whether there is an array for each input."""
    return all(s.name in feeds and _why_no_array(feeds[s.name]) is None for s in inputs)


def _feed_problems(
    feeds: Mapping[str, Any], inputs: Sequence[TensorSpec], *, is_shape_told: bool
) -> Iterator[str]:
    names = [spec.name for spec in inputs]
    for name in feeds:
        if name not in names:
            listed = ", ".join(names)
            yield f"feeds {name!r}, which is no input; the manifest's inputs are: {listed}"
    for spec in inputs:
        if spec.name not in feeds:
            yield f"input {spec.name!r} is not fed"
        elif (reason := _why_no_array(feeds[spec.name])) is not None:
            yield f"input {spec.name!r} {reason}"
        else:
            array = feeds[spec.name]
            as_fed = spec if is_shape_told else spec._replace(shape=array.shape)
            yield from _array_problems(array, as_fed)


def _array_problems(array: np.ndarray, spec: TensorSpec) -> Iterator[str]:
    """Say how a fed array differs from the declared input."""
    name, dtype = spec.name, array.dtype.name
    if dtype != spec.dtype:
        yield (
            f"input {name!r} is {dtype}, must be {spec.dtype}{_bytes(array, spec)}"
            f"{_dtype_hint(dtype, spec)}"
        )
    if array.shape != tuple(spec.shape):
        yield f"input {name!r} has shape {list(array.shape)}, want {list(spec.shape)}"


def _value_problems(
    feeds: Mapping[str, Any], inputs: Sequence[TensorSpec]
) -> Iterator[str]:
    """Say which fed arrays hold what is not finite."""
    import numpy as np

    for name in (spec.name for spec in inputs):
        array = feeds.get(name)
        if array is None or _why_no_array(array) is not None:
            continue
        if array.dtype.name in DTYPES and array.dtype.kind not in "iub":
            bad = int(np.count_nonzero(~np.isfinite(array.astype(np.float64))))
            if bad:
                yield f"input {name!r} has {bad} NaN or infinite of {array.size} elements"


def _label_problems(labels: Mapping[str, Any]) -> Iterator[str]:
    for name, array in labels.items():
        if (reason := _why_no_array(array)) is not None:
            yield f"label {name!r} {reason}"
        elif array.dtype.name not in DTYPES:
            can_be = ", ".join(DTYPES)
            yield f"label {name!r} is {array.dtype.name}; a label can be: {can_be}"


def _why_no_array(value: Any) -> str | None:
    """Return why `value` is no numpy array, with what would make it one, or None."""
    import numpy as np

    if isinstance(value, (np.ndarray, np.generic)):
        return None
    fix = "call .numpy() on it" if hasattr(value, "numpy") else "make it one with its dtype"
    return f"is a {_kind(value)}, not a numpy array; {fix}"


def _dtype_hint(dtype: str, spec: TensorSpec) -> str:
    """Say the usual cause of a dtype that is nearly right."""
    if dtype == "float64":
        return (
            f" (numpy's default; write array.astype(np.{spec.dtype}) if no value is lost)"
        )
    return ""


def _bytes(array: np.ndarray, spec: TensorSpec) -> str:
    """Say both sizes where they differ: what a runtime that is fed raw bytes would say."""
    from math import prod

    from ascendflow.tensors import tensor_dtype

    want = prod(spec.shape) * tensor_dtype(spec.dtype).itemsize
    if array.nbytes == want:
        return ""
    return f": want {want} bytes {spec.dtype}, got {array.nbytes}"


def _kind(value: Any) -> str:
    return type(value).__name__
