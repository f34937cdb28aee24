"""The tools' table, with rows as msprobe 26.2 writes them."""

from __future__ import annotations

import csv
import math
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ascendflow.backends.cann.dump.results import Result, problems, read_results
from ascendflow.errors import StageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

METRICS = (
    *("CosineSimilarity", "MaxAbsoluteError", "AccumulatedRelativeError"),
    *("RelativeEuclideanDistance", "KullbackLeiblerDivergence", "StandardDeviation"),
    *("MeanAbsoluteError", "RootMeanSquareError", "MaxRelativeError", "MeanRelativeError"),
)
PLAIN = [
    *("Index", "OpType", "NPUDump", "DataType", "Address", "GroundTruth", "DataType"),
    *("TensorIndex", "Shape", *METRICS, "CompareFailReason"),
]
ADDED = ["IsNpuOps", "IsOutputNode", "IsPrecisionError"]
GOOD = [
    *("3", "Conv2D", "conv_relu", "float16", "0x12", "conv,relu", "float32"),
    *("conv_relu:output:0", "[1,3,4,5]"),
    *("0.999990", "0.012000", "3.500000", "0.004000", "0.000100"),
    *("(0.100;1.000),(0.101;1.001)", "0.001000", "0.002000", "0.500000", "0.010000", ""),
]
JUDGED = ["NO", "YES", "NO"]


def written(folder: Path, header: Sequence[str], *rows: Sequence[str]) -> Path:
    path = folder / "result_20260101000000.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    return path


def changed(**values: str) -> list[str]:
    """A row that is good but for some columns, by name (the first of that name)."""
    row = list(GOOD)
    for name, value in values.items():
        row[PLAIN.index(name)] = value
    return row


def read_one(folder: Path, row: Sequence[str]) -> Result:
    (result,) = read_results(written(folder, PLAIN + ADDED, [*row, *JUDGED]))
    return result


def test_row_is_read_by_position_for_datatype_stands_twice(tmp_path: Path) -> None:
    result = read_one(tmp_path, GOOD)

    assert (result.device_dtype, result.golden_dtype) == ("float16", "float32")
    assert result[:8] == (
        *("3", "Conv2D", "conv_relu", "float16", "conv,relu", "float32"),
        *("conv_relu:output:0", "[1,3,4,5]"),
    )
    assert result.metrics == {
        "cosine_similarity": 0.99999,
        "max_absolute_error": 0.012,
        "accumulated_relative_error": 3.5,
        "relative_euclidean_distance": 0.004,
        "kl_divergence": 0.0001,
        "mean_absolute_error": 0.001,
        "root_mean_square_error": 0.002,
        "max_relative_error": 0.5,
        "mean_relative_error": 0.01,
    }
    assert (result.reason, result.is_output, result.said) == ("", True, "NO")
    assert problems(result) == []


def test_optional_columns_move_the_others(tmp_path: Path) -> None:
    header, row = list(PLAIN), list(GOOD)
    for name, value, before in (
        ("OverFlow", "NO", PLAIN.index("Shape") + 1),
        ("Address", "0x34", PLAIN.index("TensorIndex")),
        ("OpSequence", "17", 1),
    ):
        header.insert(before, name)
        row.insert(before, value)

    (wide,) = read_results(written(tmp_path, header, row))
    (plain,) = read_results(written(tmp_path, PLAIN, GOOD))

    assert wide == plain
    assert (plain.is_output, plain.said) == (None, "")


def test_byte_order_mark_and_empty_lines_are_passed_over(tmp_path: Path) -> None:
    path = written(tmp_path, PLAIN, GOOD, [], GOOD)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())

    assert len(read_results(path)) == 2


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"CosineSimilarity": "0.989999"}, "cosine_similarity is 0.989999"),
        ({"CosineSimilarity": "NaN"}, "cosine_similarity is nan, the limit 0.99"),
        ({"CosineSimilarity": ""}, "cosine_similarity is nan"),
        ({"CosineSimilarity": "-1.000000"}, "cosine_similarity is -1"),
        ({"RelativeEuclideanDistance": "0.050001"}, "relative_euclidean_distance is"),
        ({"RelativeEuclideanDistance": "inf"}, "relative_euclidean_distance is inf"),
        ({"KullbackLeiblerDivergence": "0.005001"}, "kl_divergence is 0.005001"),
        ({"RootMeanSquareError": "nan"}, "root_mean_square_error is nan"),
        ({"MeanRelativeError": "1.000001"}, "mean_relative_error is 1"),
        ({"MeanRelativeError": "none"}, "mean_relative_error is nan"),
        ({"CompareFailReason": "no match"}, "it was not compared: no match"),
    ],
)
def test_what_is_beyond_a_limit_missing_or_not_compared_fails(
    tmp_path: Path, values: dict[str, str], told: str
) -> None:
    (problem,) = problems(read_one(tmp_path, changed(**values)))

    assert told in problem


@pytest.mark.parametrize("kind", ["Data", "TransData", "PartitionCall"])
def test_no_kind_of_operator_is_let_off(tmp_path: Path, kind: str) -> None:
    """The tool itself says NO of these, and wherever the cosine is NaN."""
    nan = changed(OpType=kind, CosineSimilarity="NaN")

    assert len(problems(read_one(tmp_path, nan))) == 1


def test_at_its_limit_a_tensor_is_right(tmp_path: Path) -> None:
    limits = {
        "CosineSimilarity": "0.990000",
        "RelativeEuclideanDistance": "0.050000",
        "KullbackLeiblerDivergence": "0.005000",
        "RootMeanSquareError": "1.000000",
        "MeanRelativeError": "1.000000",
    }
    assert problems(read_one(tmp_path, changed(**limits))) == []


@pytest.mark.parametrize(
    ("column", "beyond"),
    [
        ("CosineSimilarity", "0.989999"),
        ("RelativeEuclideanDistance", "0.050001"),
        ("KullbackLeiblerDivergence", "0.005001"),
        ("RootMeanSquareError", "1.000001"),
        ("MeanRelativeError", "1.000001"),
    ],
)
def test_digit_beyond_each_limit_is_wrong(tmp_path: Path, column: str, beyond: str) -> None:
    (problem,) = problems(read_one(tmp_path, changed(**{column: beyond})))

    assert "the limit" in problem


def booleans(cosine: str = "1.000000", reason: str = "") -> list[str]:
    """A row of booleans: all but two metrics are missing, and the reasons say so."""
    row = changed(**{**dict.fromkeys(METRICS, "NaN"), "CosineSimilarity": cosine})
    row[PLAIN.index("DataType")] = row[PLAIN.index("GroundTruth") + 1] = "bool"
    told = [f"Algorithm {name} does not support Boolean types." for name in METRICS]
    told[3] = (
        "Failed to execute 'compare' in 'RelativeEuclideanDistance'. numpy boolean "
        "subtract, the `-` operator, is not supported, use logical_xor instead."
    )
    told = told[1:]
    row[PLAIN.index("CompareFailReason")] = ",".join([*told, *([reason] if reason else [])])
    return row


def test_booleans_are_judged_by_what_they_have(tmp_path: Path) -> None:
    assert problems(read_one(tmp_path, booleans())) == []
    assert len(problems(read_one(tmp_path, booleans("0.500000")))) == 1
    assert len(problems(read_one(tmp_path, booleans("NaN")))) == 1
    told = problems(read_one(tmp_path, booleans(reason="sizes differ")))
    assert told == ["it was not compared: sizes differ"]


def test_remark_that_a_tensor_is_scalar_is_no_failure(tmp_path: Path) -> None:
    scalar = changed(CompareFailReason="This tensor is scalar.")
    assert problems(read_one(tmp_path, scalar)) == []
    two = changed(CompareFailReason="This tensor is scalar.,no match")
    assert problems(read_one(tmp_path, two)) == ["it was not compared: no match"]


def test_what_has_no_golden_is_neither_right_nor_wrong(tmp_path: Path) -> None:
    result = read_one(tmp_path, changed(GroundTruth="*"))

    assert not result.has_golden
    with pytest.raises(ValueError, match="conv_relu: has no golden"):
        problems(result)


def test_row_whose_verdict_the_tool_left_out_is_judged(tmp_path: Path) -> None:
    """It stops after IsNpuOps where a number cannot be read."""
    row = [*changed(MeanRelativeError="oops"), "NO"]

    (result,) = read_results(written(tmp_path, PLAIN + ADDED, row))
    assert (result.is_output, result.said) == (None, "")
    assert math.isnan(result.metrics["mean_relative_error"])
    assert len(problems(result)) == 1


@pytest.mark.parametrize(
    ("header", "rows", "told"),
    [
        pytest.param([], [], "column 1 is 'nothing', 'Index' is expected", id="empty"),
        pytest.param(PLAIN[:6], [], "column 7 is 'nothing', 'DataType'", id="cut-header"),
        pytest.param(
            [*PLAIN[:5], "Golden", *PLAIN[6:]],
            [],
            "column 6 is 'Golden', 'Ground",
            id="other",
        ),
        pytest.param([*PLAIN, "Extra"], [], "column 21 is 'Extra', none is", id="more"),
        pytest.param(
            PLAIN, [GOOD, GOOD[:-1]], "line 3 has 19 columns, not 20", id="cut-row"
        ),
        pytest.param(PLAIN, [[*GOOD, ""]], "line 2 has 21 columns", id="long-row"),
    ],
)
def test_what_is_not_that_table_is_refused(
    tmp_path: Path, header: list[str], rows: list[list[str]], told: str
) -> None:
    with pytest.raises(StageError, match=told):
        read_results(written(tmp_path, header, *rows))


@pytest.mark.parametrize(
    "data", [b'"Index', b"\xff\xfe\x00", b"x" * 200_000], ids=["quote", "bytes", "long"]
)
def test_what_is_no_table_is_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "result.csv"
    path.write_bytes(data)

    with pytest.raises(StageError, match=r"result\.csv: is no table"):
        read_results(path)
    with pytest.raises(StageError, match="cannot be read: No such file"):
        read_results(tmp_path / "gone.csv")


@settings(
    max_examples=300,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.lists(st.lists(st.text(max_size=8), max_size=24)), st.binary(max_size=40))
def test_any_table_is_read_and_judged_or_refused(
    tmp_path: Path, rows: list[list[str]], tail: bytes
) -> None:
    path = tmp_path / "result.csv"
    with path.open("w", newline="", encoding="utf-8", errors="replace") as file:
        csv.writer(file).writerows([PLAIN, GOOD, *rows])
    path.write_bytes(path.read_bytes() + tail)
    try:
        results = read_results(path)
    except StageError:
        return
    assert problems(results[0]) == []
    for result in results[1:]:
        assert not result.has_golden or problems(result) != [] or result == results[0]
