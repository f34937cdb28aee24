from __future__ import annotations

from ascendflow.report.contrast_words import contrast_lines
from tests.contrasts import joined, of_device
from tests.reports import node


def test_lines_name_verdicts_outputs_and_the_nodes_that_part_the_two() -> None:
    assert "\n".join(contrast_lines(joined())) == (
        "the emulated gate FAILED, the device's passed: the prediction did NOT hold\n"
        "output mask: device against emulator: cosine_similarity 0.93, "
        "relative_euclidean_distance 0.2\n"
        "4 tensors inside: beyond a limit both 0, predicted only 3, measured only 0\n"
        "  /head/Sigmoid (Sigmoid): 4 NaN or infinities predicted, 0 measured; nothing "
        "known of it\n"
        "  /up3/Resize (Resize): relative_euclidean_distance 0.43 predicted, 0.0001 "
        "measured; resize-half-pixel, resize-half-weights"
    )


def test_node_that_only_passes_a_disagreement_on_is_not_named() -> None:
    assert not [line for line in contrast_lines(joined()) if "/add/Add" in line]


def test_device_that_dumped_nothing_is_said_and_nothing_else_is() -> None:
    measured = of_device()
    measured["metrics.json"] |= {"nodes": []}

    assert list(contrast_lines(joined(measured)))[-1] == (
        "no tensor inside the model was had from the device: outputs only are compared"
    )


def test_prediction_that_holds_everywhere_is_said_in_one_line() -> None:
    measured = of_device(
        Resize=node("/up3/Resize", "Resize", [], 0.57),
        Add=node("/add/Add", "Add", [], 0.6),
        Sigmoid=node("/head/Sigmoid", "Sigmoid", [], "NaN", introduced_nonfinite=4),
    )
    measured["verdict.json"]["passed"] = False

    verdicts, _, inside = contrast_lines(joined(measured))

    assert verdicts.endswith("the device's FAILED: the prediction held")
    assert inside.endswith("none adds a disagreement worth a look")
