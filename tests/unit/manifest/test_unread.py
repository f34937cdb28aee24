from __future__ import annotations

from typing import Any

import pytest

from ascendflow.manifest.convert import Convert
from ascendflow.manifest.problems import dotted
from ascendflow.manifest.target import Target
from ascendflow.manifest.unread import unread_keys

OF_ATC = [name for name in Convert.model_fields if name not in Target.model_fields]


def test_emulator_reads_no_key_that_only_atc_or_a_device_reads() -> None:
    data = {
        "convert": {"cann": "8.1", **dict.fromkeys(OF_ATC, 1)},
        "infer": {"threads": 2, "host": "board", "python": None},
        "compare": {"node_samples": 1, "dump_gb": 8, "nodes_by": "dump"},
    }
    others = ["infer.host", "compare.dump_gb", "compare.nodes_by"]

    assert len(OF_ATC) > 50
    assert [f"{dotted(each.keys)} {each.text}" for each in unread_keys(data)] == [
        f"{name} is read by backend: cann only, and the backend is 'emulator'"
        for name in (*(f"convert.{name}" for name in OF_ATC), *others)
    ]


@pytest.mark.parametrize("backend", ["cann", ["emulator", "cann"], "cnan", 3])
def test_what_cann_reads_or_what_is_no_backend_is_no_problem(backend: Any) -> None:
    data = {"convert": {"backend": backend, "mode": 0}, "infer": {"device": 1}}

    assert list(unread_keys(data)) == []
