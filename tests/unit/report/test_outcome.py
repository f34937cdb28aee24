from __future__ import annotations

import re
from typing import Any

from ruamel.yaml import YAML

from ascendflow.metrics import divergent
from ascendflow.report.outcome import LIMITS, failed_lines, passing_lines
from tests.reports import check, failed, passed


def verdict(**changes: Any) -> dict[str, Any]:
    made: dict[str, Any] = passed()["verdict.json"]
    return made | changes


DISTANT = {
    "pair": "onnx-target",
    "name": "mask",
    "metric": "relative_euclidean_distance",
    "value": 0.93451,
    "sample": "s1",
}


def test_limits_are_those_of_a_divergent_node() -> None:
    assert LIMITS == {
        "cosine_similarity": ("min", divergent.COSINE_LIMIT),
        "relative_euclidean_distance": ("max", divergent.DISTANCE_LIMIT),
    }


def test_a_pass_is_one_line() -> None:
    (line,) = passing_lines(verdict())
    assert line.startswith("pan: passed (1 check; ")


def test_a_pass_with_an_output_that_diverges_says_so_and_what_to_write() -> None:
    _, line = passing_lines(verdict(divergent_outputs=[DISTANT]))

    assert line.startswith("warning: pan passed, although output 'mask' diverges: ")
    assert "relative_euclidean_distance is 0.93451, above 0.05 " in line
    assert "(onnx-target, worst sample 's1')" in line
    written = re.findall(r"write (.*) under gate.outputs", line)
    assert YAML(typ="safe").load(written[0]) == {
        "relative_euclidean_distance": {"max": 0.05}
    }


def test_a_node_that_diverges_is_told_where_no_output_does() -> None:
    node = failed()["verdict.json"]["first_divergent_node"]
    _, line = passing_lines(verdict(first_divergent_node=node))
    (_, of_the_output) = passing_lines(
        verdict(first_divergent_node=node, divergent_outputs=[DISTANT])
    )

    assert line.startswith("warning: pan passed, although /up3/Resize (Resize, ")
    assert "its cosine similarity is below 0.99" in line
    (written,) = re.findall(r"`(gate: .*)`", line)
    assert YAML(typ="safe").load(written) == {
        "gate": {"outputs": {"*": {"relative_euclidean_distance": {"max": 0.05}}}}
    }
    assert "/up3/Resize" not in of_the_output


def test_outputs_that_are_held_to_it_need_no_such_advice() -> None:
    node = failed()["verdict.json"]["first_divergent_node"]
    held = [check("relative_euclidean_distance", 0.01, {"max": 0.05})]
    _, line = passing_lines(verdict(first_divergent_node=node, checks=held))

    assert "gate: {" not in line


def test_a_failure_without_a_report_tells_each_check() -> None:
    document = failed()["verdict.json"]
    first, *rest = failed_lines(document)
    many = {**document, "checks": document["checks"] * 9}

    assert first.startswith("pan: FAILED (")
    assert len(rest) == sum(not each["passed"] for each in document["checks"])
    assert all(line.startswith("gate: '") for line in rest)
    assert list(failed_lines(many))[-1].endswith("more checks failed")
