from __future__ import annotations

import functools
from typing import Any

import pytest

from ascendflow.errors import StageError

torch = pytest.importorskip("torch", reason="needs PyTorch (the extra [torch])")

from ascendflow.pytorch.call import call_of  # noqa: E402


class Net(torch.nn.Module):  # type: ignore[misc,name-defined]
    def __init__(self, forward: Any) -> None:
        super().__init__()
        self.forward = forward


def two(image: Any, prior: Any) -> Any:
    return image - prior


def skipping(image: Any, mask: Any = None, scale: Any = 1.0) -> Any:
    return image, mask, scale


def keyword(image: Any, *, scale: Any) -> Any:
    return image * scale


def anything(*args: Any, **kwargs: Any) -> Any:
    return args, kwargs


@functools.wraps(two)
def wrapped(*args: Any) -> Any:
    return two(*args)


@pytest.mark.parametrize(
    ("forward", "inputs", "positional", "named"),
    [
        (two, ["prior", "image"], ("image", "prior"), ()),
        (wrapped, ["prior", "image"], ("image", "prior"), ()),
        (skipping, ["scale", "image"], ("image",), ("scale",)),
        (keyword, ["scale", "image"], ("image",), ("scale",)),
    ],
)
def test_names_of_parameters_go_where_those_are_without_a_note(
    forward: Any, inputs: list[str], positional: tuple[str, ...], named: tuple[str, ...]
) -> None:
    call = call_of(Net(forward), inputs)

    assert (call.positional, call.named, call.note) == (positional, named, None)
    assert call.order == positional + named


@pytest.mark.parametrize(
    ("forward", "inputs", "pairs"),
    [
        (two, ["p", "img"], "'p' -> image, 'img' -> prior"),
        (skipping, ["img"], "'img' -> image"),
    ],
)
def test_names_of_no_parameter_go_by_position_and_that_is_noted(
    forward: Any, inputs: list[str], pairs: str
) -> None:
    call = call_of(Net(forward), inputs)

    assert (call.positional, call.named) == (tuple(inputs), ())
    assert call.note == f"inputs are taken by position: {pairs}"


def test_one_misspelt_name_is_refused_with_the_likely_one() -> None:
    with pytest.raises(StageError) as caught:
        call_of(Net(two), ["prior", "img"])

    assert "forward(image, prior) has no parameter 'img'" in caught.value.message
    assert caught.value.hint == "'img': did you mean 'image'?"


def test_name_that_is_like_none_is_refused_with_the_parameters_left() -> None:
    with pytest.raises(StageError) as caught:
        call_of(Net(skipping), ["image", "z"])

    assert caught.value.hint == "'z': known here: mask, scale"


def test_input_for_which_no_parameter_is_left_is_to_be_removed_or_added() -> None:
    with pytest.raises(StageError) as caught:
        call_of(Net(two), ["image", "prior", "scale"])

    assert caught.value.hint == (
        "'scale': remove it from `inputs`, or add the parameter to forward"
    )
    assert caught.value.keys == ("inputs",)


@pytest.mark.parametrize("model", [Net(anything), torch.nn.DataParallel(Net(two))])
def test_forward_without_named_parameters_takes_what_comes(model: Any) -> None:
    call = call_of(model, ["p", "img"])

    assert (call.order, call.note) == (("p", "img"), None)
