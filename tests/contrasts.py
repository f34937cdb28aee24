"""Documents of one model on both backends, built by hand; and what joins them."""

from __future__ import annotations

import copy
from typing import Any

from ascendflow.report.contrast import Known, contrast
from tests.reports import failed, node

RESIZE_FACTS: tuple[dict[str, str], dict[str, list[int | str]]] = (
    {"mode": "linear"},
    {"/up3/Resize:0": [1, 8, "H", 4]},
)


def finding(deviation: str, of: str | None) -> dict[str, Any]:
    """A finding of lint, of one node or of the whole model."""
    return {"deviation": deviation, "node": of}


def emulated() -> dict[str, Any]:
    """What the emulator's stages left: it fails at /up3/Resize."""
    documents = failed()
    documents["lint.json"] = {
        "schema_version": 1,
        "findings": [
            finding("resize-half-pixel", "/up3/Resize"),
            finding("resize-half-weights", "/up3/Resize"),
            finding("precision-force_fp16", None),
        ],
    }
    return documents


def of_device(**nodes: dict[str, Any]) -> dict[str, Any]:
    """What the device's stages left: all is well but for `nodes`, by node."""
    documents = copy.deepcopy(emulated())
    documents["verdict.json"] |= {"passed": True, "backend": "cann"}
    for check in documents["verdict.json"]["checks"]:
        check["passed"] = True
    documents["conversion.json"] |= {
        "backend": "cann",
        "is_real_device": True,
        "cann": "8.1.RC1",
        "toolchain": {
            "versions": {"opp": "7.7.0.1.238"},
            "arguments": ["--output=/home/me"],
        },
    }
    documents["metrics.json"]["nodes"] = [
        {**each, **nodes.get(each["op_type"], {})}
        for each in (
            node("/conv/Conv", "Conv", ["image"], 0.999999, target_op="Conv2D"),
            node("/up3/Resize", "Resize", ["/conv/Conv:0"], 0.9999, target_op="Resize"),
            node("/add/Add", "Add", ["/up3/Resize:0", "/conv/Conv:0"], 0.9999),
            node("/head/Sigmoid", "Sigmoid", ["/add/Add:0"], 0.9999),
        )
    ]
    return documents


def joined(
    measured: dict[str, Any] | None = None, predicted: dict[str, Any] | None = None
) -> Any:
    """Join both."""
    known = Known(
        model="pan",
        samples=3,
        outputs=[
            {
                "name": "mask",
                "behaviour": "",
                "metrics": {"cosine_similarity": 0.93, "relative_euclidean_distance": 0.2},
                "problem": None,
            }
        ],
        facts={"/up3/Resize:0": RESIZE_FACTS},
        not_emulated=["deterministic"],
    )
    sides = (predicted or emulated(), measured or of_device())
    return contrast(*sides, known)
