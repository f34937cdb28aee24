from __future__ import annotations

from itertools import permutations

import numpy as np
import onnx
import pytest

from ascendflow.graph.promise import Difference
from ascendflow.graph.rules.einsum_matmul import EinsumMatmul
from tests.editing import applied, why_skipped
from tests.models import F32, Shape, model, node, run

LENGTHS = {"a": 2, "b": 3, "c": 4, "d": 5, "e": 6, "i": 3, "j": 4, "k": 5, "h": 2, "w": 3}


def einsum(
    equation: str, shapes: list[Shape] | None = None, rank: int | None = None
) -> onnx.ModelProto:
    operands, _, out = equation.replace(" ", "").partition("->")
    if shapes is None:
        shapes = [[LENGTHS[c] for c in each] for each in operands.split(",")]
    inputs = [(f"x{k}", shape) for k, shape in enumerate(shapes)]
    made = node("Einsum", [name for name, _ in inputs], ["y"], equation=equation)
    output = [f"d{i}" for i in range(len(out) if rank is None else rank)]
    return model([made], inputs, [("y", output)])


def feeds(shapes: list[list[int]]) -> dict[str, np.ndarray]:
    random = np.random.default_rng(0)
    return {f"x{k}": random.standard_normal(s).astype(F32) for k, s in enumerate(shapes)}


def assert_equivalent(
    proto: onnx.ModelProto, after: onnx.ModelProto, fed: dict[str, np.ndarray]
) -> None:
    difference = Difference()
    difference.add("x", run(proto, fed)["y"], run(after, fed)["y"])
    assert difference.why_broken("equivalent") is None


def test_a_reported_equation_keeps_every_bit() -> None:
    """OP12: bhc,bkc->bhk of a relative position, as MatMul with a transposed operand."""
    proto = einsum("bhc,bkc->bhk", [[2, 3, 4], [2, 5, 4]])
    fed = feeds([[2, 3, 4], [2, 5, 4]])
    after = applied(EinsumMatmul(), proto)

    np.testing.assert_array_equal(run(after, fed)["y"], run(proto, fed)["y"])
    np.testing.assert_allclose(
        run(after, fed)["y"], np.einsum("bhc,bkc->bhk", *fed.values()), rtol=1e-5
    )


@pytest.mark.parametrize(
    ("equation", "steps"),
    [
        ("ij,jk->ik", ["MatMul"]),
        ("bij,bjk->bik", ["MatMul"]),
        ("ij,kj->ik", ["Transpose", "MatMul"]),
        ("bhwc,hkc->bhwk", None),
        ("bhwc,wkc->bhwk", None),
        ("abc,cde->abde", None),
        ("abcd,aecd->aceb", None),
        ("abcd,cde->abe", None),
        ("abc,abd->dc", None),
        ("abc,abde->dec", None),
        ("abcd,acbe->adbe", None),
        ("i,j->ij", ["Reshape", "Reshape", "MatMul"]),
        ("i,i->", ["Reshape", "Reshape", "MatMul", "Reshape"]),
        ("ij,ij->ij", ["Mul"]),
        ("ij,ij->ji", ["Mul", "Transpose"]),
        ("ij,i->ij", None),
        (" i j , j k -> i k ", ["MatMul"]),
    ],
)
def test_contractions_become_products(equation: str, steps: list[str] | None) -> None:
    proto = einsum(equation)
    letters = equation.replace(" ", "").partition("->")[0].split(",")

    after = applied(EinsumMatmul(), proto)

    kinds = [n.op_type for n in after.graph.node]
    assert set(kinds) <= {"MatMul", "Mul", "Reshape", "Transpose"}
    assert steps is None or kinds == steps
    assert_equivalent(proto, after, feeds([[LENGTHS[c] for c in each] for each in letters]))
    assert (after.graph.node[-1].name, after.graph.node[-1].output[0]) == ("y", "y")


@pytest.mark.parametrize("right", ["".join(p) for p in permutations("abde")])
@pytest.mark.parametrize("out", ["acd", "dca", "cad"])
def test_any_order_of_dimensions_will_do(right: str, out: str) -> None:
    """Against onnxruntime's own Einsum: b and e are summed over, a is in both."""
    equation = f"eabc,{right}->{out}"
    proto = einsum(equation)

    after = applied(EinsumMatmul(), proto)

    shapes = [[LENGTHS[c] for c in each] for each in ("eabc", right)]
    assert_equivalent(proto, after, feeds(shapes))


def test_an_output_that_is_not_named_is_alphabetical() -> None:
    proto = einsum("ki,jk", rank=2)

    after = applied(EinsumMatmul(), proto)

    assert_equivalent(proto, after, feeds([[5, 3], [4, 5]]))


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("bij,bjk->bik", [["n", 3, 4], ["n", 4, 5]]),
        ("bij,bjk->bik", [["n", "m", 4], ["n", 4, "l"]]),
        ("bhic,bhjc->bhij", [["n", 2, "t", 4], ["n", 2, "t", 4]]),
        ("bijc,bkc->bijk", [["n", 3, 4, 5], ["n", 2, 5]]),
    ],
)
def test_dimensions_that_stay_apart_may_be_dynamic(
    equation: str, shapes: list[Shape]
) -> None:
    proto = einsum(equation, shapes)

    after = applied(EinsumMatmul(), proto)

    known = {"n": 3, "m": 2, "l": 6, "t": 7}
    sizes = [[d if isinstance(d, int) else known[d] for d in shape] for shape in shapes]
    assert_equivalent(proto, after, feeds(sizes))


@pytest.mark.parametrize(
    ("proto", "words"),
    [
        pytest.param(einsum("ij->ji"), "1 operands, not two", id="one"),
        pytest.param(einsum("ij,jk,kc->ic"), "3 operands, not two", id="three"),
        pytest.param(
            einsum("...ij,...jk->...ik", [[2, 3, 4], [2, 4, 5]], 3), "ellipsis", id="dots"
        ),
        pytest.param(
            einsum("ii,ij->j", [[3, 3], [3, 4]]), "twice in one term", id="diagonal"
        ),
        pytest.param(
            einsum("ij,kc->ikc"), "j is summed over in one operand alone", id="one-sum"
        ),
        pytest.param(
            einsum("ij,jk->ik", [[3, 1], [4, 5]]), "may be broadcast", id="broadcast"
        ),
        pytest.param(
            einsum("bijc,bkc->bijk", [[2, "n", 4, 5], [2, 3, 5]]),
            "i is dynamic",
            id="merge",
        ),
    ],
)
def test_others_are_skipped_with_a_reason(proto: onnx.ModelProto, words: str) -> None:
    assert words in why_skipped(EinsumMatmul(), proto)


def test_whole_numbers_are_skipped() -> None:
    proto = einsum("ij,jk->ik")
    for value in (*proto.graph.input, *proto.graph.output):
        value.type.tensor_type.elem_type = onnx.TensorProto.INT32

    assert "no floats" in why_skipped(EinsumMatmul(), proto)
