"""Constants that fp16 does not hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.deviating.case import Case, Cases, one
from tests.deviating.unregistered import normalised
from tests.models import F32, node

if TYPE_CHECKING:
    import onnx


def _moved(mask: np.ndarray) -> dict[str, onnx.ModelProto]:
    """Make nodes that pass a mask of 2 x 4 on, which x is then added to."""
    shape = {"shape": np.array([2, 4])}
    kinds: dict[str, tuple[list[str], dict[str, Any]]] = {
        "Expand": (["big", "shape"], {"big": mask[0], **shape}),
        "Reshape": (["big", "shape"], {"big": mask.ravel(), **shape}),
        "Transpose": (["big"], {"big": mask.T}),
        "Unsqueeze": (["big", "at"], {"big": mask[0], "at": np.array([0])}),
    }
    added = [node("Add", ["x", "n"], ["s"]), node("Softmax", ["s"], ["y"], axis=-1)]
    return {
        name: one(name, inputs, constants, behind=added)
        for name, (inputs, constants) in kinds.items()
    }


def masks() -> Cases:
    """Give masks before Softmax."""
    mask = np.array([[0, 0, 0, -1e9], [0, 0, -1e9, -1e9]], F32)
    big = {"big": mask}
    soft = [node("Softmax", ["n"], ["y"], axis=-1)]
    minus = [node("Sub", ["zero", "n"], ["s"]), node("Softmax", ["s"], ["y"], axis=-1)]
    direct = {
        "Add": one("Add", ["x", "big"], big, behind=soft),
        "Sub": one("Sub", ["x", "big"], {"big": -mask}, behind=soft),
        "Sum": one("Sum", ["x", "big"], big, behind=soft),
        "Where": one(
            "Where",
            ["c", "x", "big"],
            {"c": mask == 0, "big": np.array(-1e9, F32)},
            behind=soft,
        ),
        "Mul": one(
            "Mul",
            ["x", "big"],
            {"big": np.array(1e9, F32), "zero": np.zeros((2, 4), F32)},
            behind=minus,
        ),
    }
    made = {**direct, **_moved(mask)}
    return {("mask-overflow-fp16", name): [Case(each, {})] for name, each in made.items()}


def large() -> Cases:
    """Make each operator compute with, or pass on, a constant of 1e6."""
    flat, square = np.full((2, 4), 1e6, F32), {"w": np.full((2, 2, 1, 1), 1e6, F32)}
    matrix = {"w": np.full((4, 3), 1e6, F32)}
    ones = {"s": np.ones(2, F32), "m": np.full(2, 1e6, F32)}
    whole = {"i": np.array([[1, 0, 1, 0]])}
    binary = {
        name: one(name, ["x", "big"], {"big": flat})
        for name in ("Add", "Div", "Mean", "Mul", "PRelu", "Pow", "Sub", "Sum")
    }
    conv = {
        name: one(name, ["x", "w"], square, x=(1, 2, 4, 4), kernel_shape=[1, 1])
        for name in ("Conv", "ConvTranspose")
    }
    given = {
        "BatchNormalization": one(
            "BatchNormalization", ["x", "s", "s", "m", "s"], ones, x=(1, 2, 4)
        ),
        "Concat": one("Concat", ["x", "big"], {"big": flat}, axis=0),
        "Expand": one("Expand", ["big", "to"], {"big": flat, "to": np.array([3, 2, 4])}),
        "Gather": one("Gather", ["big", "i"], {"big": flat, "i": np.array([0])}),
        "GatherElements": one("GatherElements", ["big", "i"], {"big": flat, **whole}),
        "GatherND": one("GatherND", ["big", "i"], {"big": flat, "i": np.array([[1]])}),
        "Gemm": one("Gemm", ["x", "w"], matrix),
        "GroupNormalization": normalised("InstanceNormalization", 1e6, groups=2),
        "InstanceNormalization": normalised("InstanceNormalization", 1e6),
        "LayerNormalization": normalised("LayerNormalization", 1e6),
        "MatMul": one("MatMul", ["x", "w"], matrix),
        "Pad": one(
            "Pad", ["x", "p", "big"], {"p": np.array([1] * 4), "big": np.array(1e6, F32)}
        ),
        "Reshape": one("Reshape", ["big", "to"], {"big": flat, "to": np.array([8])}),
        "ScatterElements": one(
            "ScatterElements", ["x", "i", "big"], {"big": flat[:1], **whole}
        ),
        "ScatterND": one(
            "ScatterND", ["x", "i", "big"], {"big": flat[:1], "i": np.array([[1]])}
        ),
        "Tile": one("Tile", ["big", "to"], {"big": flat, "to": np.array([2, 1])}),
        "Transpose": one("Transpose", ["big"], {"big": flat}),
        "Unsqueeze": one("Unsqueeze", ["big", "to"], {"big": flat, "to": np.array([0])}),
        "Where": one("Where", ["c", "x", "big"], {"c": flat == 0, "big": flat}),
    }
    made = {**binary, **conv, **given}
    # On 310P ScatterElements has no fp16 kernel.
    return {
        ("const-overflow-fp16", name): [Case(each, {"soc_version": "Ascend310B1"})]
        for name, each in made.items()
    }


def small() -> Cases:
    """Give epsilons."""
    made = {
        name: one(
            name,
            ["x", "e"],
            {"e": np.array(1e-12, F32)},
            behind=[node("Div", ["x", "n"], ["y"])],
        )
        for name in ("Add", "Clip", "Max")
    }
    return {("eps-underflow-fp16", name): [Case(each, {})] for name, each in made.items()}


def products() -> Cases:
    """Give products that leave fp16."""
    square, matrix = np.full((2, 2, 1, 1), 2048, F32), np.full((4, 3), 1024, F32)
    made = {
        name: one(name, ["x", "w"], {"w": square}, x=(1, 2, 4, 4), kernel_shape=[1, 1])
        for name in ("Conv", "ConvTranspose")
    }
    made |= {name: one(name, ["x", "w"], {"w": matrix}) for name in ("Gemm", "MatMul")}
    return {("conv-overflow", name): [Case(each, {})] for name, each in made.items()}
