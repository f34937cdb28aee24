from __future__ import annotations

import math
import re
from typing import Any

import pytest
from ruamel.yaml import YAML

from ascendflow.report.collect import collect
from ascendflow.report.lines import failure_message
from ascendflow.report.ways import in_yaml
from tests.reports import check, failed, rule_entry


def hints(documents: dict[str, Any]) -> list[str]:
    message = failure_message(documents["verdict.json"], collect(documents))
    return [line for line in message.splitlines() if line.startswith("  hint: ")]


def overflow(op_type: str, largest: float) -> dict[str, Any]:
    documents = failed()
    documents["metrics.json"]["nodes"][1]["statistics"]["golden_largest"] = largest
    documents["metrics.json"]["nodes"][1]["op_type"] = op_type
    documents["verdict.json"]["first_divergent_node"]["op_type"] = op_type
    return documents


@pytest.mark.parametrize(
    ("largest", "scale"), [(65520.0, 2), (131072.0, 4), (131073.0, 8), (146072.0, 8)]
)
def test_an_overflowing_product_is_told_its_scale(largest: float, scale: int) -> None:
    (hint,) = [each for each in hints(overflow("Conv", largest)) if "scale-conv" in each]

    assert f"{{name: scale-conv, nodes: [/up3/Resize], scale: {scale}}}" in hint
    assert "`convert: {keep_dtype: [/up3/Resize]}`" in hint
    assert scale == 2 ** math.ceil(math.log2(largest / 32768))
    assert largest / scale < 65504 / 1.9
    for written in re.findall(r"`([a-z]+: \{.*?\})`", hint):
        assert isinstance(YAML(typ="safe").load(written), dict)


def test_what_is_no_product_or_is_scaled_already_is_kept_in_fp32() -> None:
    scaled = overflow("Conv", 146072.0)
    applied = {"node": "/up3/Resize", "op_type": "Conv", "before": {}, "after": {}}
    entry = {**rule_entry("scale-conv"), "applied": [applied]}
    scaled["rewrite.json"]["rules"] = [entry]
    scaled["check.json"]["promises"] = [
        {"rule": "scale-conv", "effect": "exact", "held": True}
    ]

    for documents in (overflow("Mul", 146072.0), scaled):
        told = "\n".join(hints(documents))
        assert "scale-conv, nodes" not in told
        assert "in fp32: `convert: {keep_dtype: [/up3/Resize]}` beside what it" in told


@pytest.mark.parametrize(
    ("keepable", "said"),
    [
        (None, "Where the matrix unit has fp32, as on 910B, keep_dtype does without"),
        ([], "Without the rule that is refused: the matrix unit of Ascend310P3 has no"),
        (["/up3/Resize"], "The matrix unit of Ascend310P3 has fp32: there keep_dtype does"),
    ],
)
def test_a_product_is_told_whether_keep_dtype_alone_helps(
    keepable: list[str] | None, said: str
) -> None:
    documents = overflow("Conv", 146072.0)
    if keepable is not None:
        documents["conversion.json"]["keepable"] = keepable

    assert said in "\n".join(hints(documents))


def test_what_no_kernel_keeps_is_not_told_to_be_kept() -> None:
    documents = overflow("MaxPool", 146072.0)
    documents["conversion.json"]["keepable"] = ["another"]

    told = "\n".join(hints(documents))
    assert "keep_dtype" not in told
    assert "no kernel of Ascend310P3 keeps /up3/Resize in fp32" in told


def test_what_fits_float16_gets_no_such_hint() -> None:
    assert not [each for each in hints(overflow("Conv", 65504.0)) if "keep_dtype" in each]


def within_limits(mode: str = "force_fp16") -> dict[str, Any]:
    documents = failed()
    documents["verdict.json"]["first_divergent_node"]["reason"] = "largest_drop"
    documents["conversion.json"]["precision_mode"] = mode
    return documents


def test_a_limit_that_no_node_explains_has_a_way_on_with_its_value() -> None:
    (hint,) = [each for each in hints(within_limits()) if "tightest that passes" in each]

    assert "`convert: {keep_dtype: [/up3/Resize]}` keeps the one above" in hint
    assert "another `convert.precision_mode` may keep more nodes in fp32, or be" in hint
    assert "refused on Ascend310P3 (`ascendflow precision --precision-mode MODE`" in hint
    assert "tries it, and says whether that moves it to AI CPU" in hint
    assert "'mask' cosine_similarity 0.9312, 'mean_iou' relative_drop 0.125" in hint


@pytest.mark.parametrize(
    ("keepable", "said"),
    [
        (["/up3/Resize"], "keeps the one above (its `--keep-dtype` tries it, and says"),
        ([], "another `convert.precision_mode`"),
    ],
)
def test_keep_dtype_is_offered_where_it_changes_the_node(
    keepable: list[str], said: str
) -> None:
    documents = within_limits()
    documents["conversion.json"]["keepable"] = keepable
    (hint,) = [each for each in hints(documents) if "tightest that passes" in each]

    assert said in hint
    assert ("keep_dtype: [" in hint) == bool(keepable)


def test_the_tightest_limit_is_told_once_as_wide_as_the_widest_pair_needs() -> None:
    documents = within_limits()
    judged = check("cosine_similarity", 0.98, {"min": 0.999})
    other = {**judged, "pair": "torch-target", "value": 0.97, "tightest": 0.97}
    error = check("max_absolute_error", 0.2, {"max": 0.1})
    nearer = {**error, "pair": "torch-target", "value": 0.15, "tightest": 0.15}
    documents["verdict.json"]["checks"] = [judged, other, error, nearer]

    (hint,) = [each for each in hints(documents) if "tightest that passes" in each]
    assert hint.endswith(
        "passes is 'mask' cosine_similarity 0.97, 'mask' max_absolute_error 0.2"
    )


def test_nothing_is_left_to_keep_where_all_is_fp32() -> None:
    (hint,) = [
        each for each in hints(within_limits("force_fp32")) if "tightest that" in each
    ]

    assert "keep_dtype" not in hint
    assert "precision_mode" not in hint


def test_a_node_beyond_a_limit_is_not_put_down_to_rounding() -> None:
    assert not [each for each in hints(failed()) if "tightest that passes" in each]


@pytest.mark.parametrize(
    "name", ["/up3/Resize", "a: b", "x, y", "[0]", "12", "#", "null", "True"]
)
def test_a_name_in_a_list_is_read_as_it_was(name: str) -> None:
    assert YAML(typ="safe").load(f"[{in_yaml(name)}]") == [name]
