"""The documents of stand-in stages that doit's process reads: verdict, report and contrast.

Copied into a checkout's `ascendflow/stages/`, beside the stand-in that uses it.
"""

from __future__ import annotations

from typing import Any


def verdict(model: str, **more: Any) -> dict[str, Any]:
    """Make a verdict that passed with no check, but for `more`."""
    return {
        "schema_version": 1,
        "model": model,
        "backend": "emulator",
        "is_real_device": False,
        "emulation": None,
        "cann": "8.1",
        "soc_version": "Ascend310P3",
        "precision_mode": "force_fp16",
        "passed": True,
        "checks": [],
        "first_divergent_node": None,
        "divergent_outputs": [],
        "judged": {},
        **more,
    }


def report(model: str, **more: Any) -> dict[str, Any]:
    """Make a report of nothing that passed, but for `more`."""
    return {
        "schema_version": 1,
        "model": model,
        "passed": True,
        "target": {
            "is_real_device": False,
            "cann": "8.1",
            "soc_version": "Ascend310P3",
            "precision_mode": "force_fp16",
        },
        "warnings": [],
        "metric": None,
        "checks": [],
        "divergent_node": None,
        "flips": [],
        "emulation": None,
        "rules": [],
        "rules_moved": 0.0,
        "golden": {"runtime": "onnxruntime", "graph_optimization": "off"},
        **more,
    }


def contrast(predicted: bool, measured: bool, **more: Any) -> dict[str, Any]:
    """Make a contrast of nothing but two verdicts."""
    return {
        "schema_version": 1,
        "predicted": {"passed": predicted},
        "measured": {"passed": measured},
        "outputs": [],
        "why_no_nodes": "nothing was dumped",
        **more,
    }
