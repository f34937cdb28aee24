from __future__ import annotations

import re

from ascendflow.report.contrast_page import render
from tests.contrasts import joined, of_device


def test_page_shows_both_sides_and_every_row() -> None:
    page = render(joined())

    assert "predicted (emulated, not run on a device)" in page
    assert "CANN 8.1.RC1, Ascend310P3, force_fp16, opp 7.7.0.1.238" in page
    assert re.findall(r"<th><code>(.+)</code>", page)[1] == "/up3/Resize"
    assert "Resize, predicted ResizeBilinearV2" in page
    assert 'href="../report@cann/report.html"' in page
    assert "what the emulator leaves out: deterministic" in page


def test_names_are_escaped_and_nothing_is_loaded() -> None:
    document = joined()
    document["nodes"][0]["node"] = "<script>alert(1)</script>"

    page = render(document)

    assert "&lt;script&gt;alert(1)" in page
    assert "<script>" not in page
    assert "http" not in page.replace("http-equiv", "")


def test_page_says_why_it_has_no_rows() -> None:
    measured = of_device()
    measured["metrics.json"] |= {"nodes": []}

    page = render(joined(measured))

    assert "no tensor inside the model was had from the device" in page
    assert "<table" not in page
