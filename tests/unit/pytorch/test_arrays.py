from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from ascendflow.errors import StageError

torch = pytest.importorskip("torch", reason="needs PyTorch (the extra [torch])")
from ascendflow.pytorch.arrays import named_outputs, to_numpy, to_torch  # noqa: E402

ONE = torch.ones(1)


@dataclass
class Result:
    """A result as users declare it."""

    logits: Any
    features: Any


@pytest.mark.parametrize(
    "dtype", ["float32", "float16", "float64", "int8", "int64", "uint8", "bool", "bfloat16"]
)
def test_every_dtype_survives_the_way_there_and_back(dtype: str) -> None:
    numpy_dtype = np.dtype(getattr(ml_dtypes, dtype, dtype))
    array = np.array([[0, 1], [1, 0]]).astype(numpy_dtype).T
    back = to_numpy(to_torch(array))

    assert str(to_torch(array).dtype) == f"torch.{dtype}"
    assert back.dtype == array.dtype
    np.testing.assert_array_equal(back, array)


def test_scalar_keeps_rank_0() -> None:
    assert to_torch(np.array(2.5, np.float32)).shape == ()
    assert to_numpy(torch.tensor(2.5)).shape == ()


@pytest.mark.parametrize(
    ("result", "names"),
    [
        pytest.param(ONE, ["output"], id="tensor"),
        pytest.param((ONE, None, ONE), ["output_0", "output_2"], id="tuple-with-none"),
        pytest.param({"b": ONE, "a": [ONE, ONE]}, ["b", "a.0", "a.1"], id="mapping"),
        pytest.param(Result(ONE, (ONE,)), ["logits", "features.0"], id="dataclass"),
    ],
)
def test_outputs_are_named_by_their_place(result: object, names: list[str]) -> None:
    assert list(named_outputs(result)) == names


def test_output_named_like_an_input_gets_a_name_of_its_own() -> None:
    assert list(named_outputs({"x": ONE}, taken=["x"])) == ["x_output"]


@pytest.mark.parametrize(
    ("result", "said"),
    [
        pytest.param((ONE, 3), "returns a int at 'output_1'", id="int"),
        pytest.param({"text": "cat"}, "returns a str at 'text'", id="str"),
        pytest.param(None, "returns no tensor", id="nothing"),
    ],
)
def test_what_is_no_tensor_is_refused(result: object, said: str) -> None:
    with pytest.raises(StageError, match=said):
        named_outputs(result)
