"""What ATC and its neighbours do that no document settles."""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING

import numpy as np
import pytest

from ascendflow.backends.cann.environment import environment_of
from ascendflow.backends.cann.own_word import own_word
from ascendflow.errors import StageError, ToolFailedError
from ascendflow.manifest.convert import Convert
from ascendflow.manifest.target import Target
from ascendflow.om.contents import read_om
from ascendflow.om.inspection import inspect_om
from ascendflow.om.model_def import read_model_def
from ascendflow.om.partitions import read_tables
from ascendflow.om.signature import read_signature
from ascendflow.om.source import opened
from tests.models import F32, model, node

if TYPE_CHECKING:
    import onnx

    from tests.installed_cann import Installed

pytestmark = pytest.mark.cann

ASK = """
import json, sys
from ais_bench.infer.interface import InferSession
session = InferSession(0, sys.argv[1])
given = session.get_inputs()[0]
print("FIELDS", json.dumps({n: type(getattr(given, n)).__name__
                            for n in dir(given) if not n.startswith("_")}))
"""
OURS = {"toolkit", "python", "backend", "cann"}


def small() -> onnx.ModelProto:
    weights = np.random.default_rng(0).standard_normal((8, 4, 3, 3)).astype(F32)
    nodes = [
        node("Conv", ["x", "w"], ["c"], kernel_shape=[3, 3]),
        node("Relu", ["c"], ["y"]),
    ]
    return model(nodes, [("x", [1, 4, 8, 8])], [("y", [1, 8, 6, 6])], {"w": weights})


def test_equal_builds_give_oms_of_one_normalised_digest(cann: Installed) -> None:
    oms = [inspect_om(own_word(cann.build(small(), name)).path) for name in ("a", "b")]

    raw = len({om["sha256"] for om in oms}) == 1
    normalised = len({om["normalised_sha256"] for om in oms}) == 1
    cann.answer("om-bytes", f"raw equal: {raw}, normalised equal: {normalised}")
    assert normalised


def test_partition_of_inputs_and_outputs_says_what_the_graph_says(
    cann: Installed,
) -> None:
    with opened(own_word(cann.build(small())).path) as source:
        said = read_om(source)
        (table, *_) = read_tables(source, said.contents["header"], 0, source.size)
        definition, partition = table.find("MODEL_DEF"), table.find("MODEL_INOUT_INFO")
        assert definition is not None
        graph = read_signature(source, read_model_def(source, definition, None)[0])
    has_one = partition is not None and partition.stop > partition.start
    kinds = ("inputs", "outputs")
    told = {kind: _shapes(getattr(said, kind)) for kind in kinds}
    same = told == {kind: _shapes(getattr(graph, kind)) for kind in kinds}
    cann.answer("inout-info", f"there: {has_one}, says what the graph says: {same}")
    assert [shape for _, shape in told["inputs"]] == [[1, 4, 8, 8]]
    assert same


def _shapes(tensors: list[object]) -> list[tuple[object, object]]:
    return [(each["dtype"], each["shape"]) for each in tensors]  # type: ignore[index]


def test_refusal_of_an_operator_is_read_from_the_log(
    cann: Installed, capfd: pytest.CaptureFixture[str]
) -> None:
    proto = small()
    proto.graph.node[1].op_type = "NoSuchOperator"

    with pytest.raises(ToolFailedError) as caught:
        cann.build(proto)
    marks = re.findall(
        r"ATC start working|\b[EW][0-9A-Z]\d{4}\b|ATC run failed", capfd.readouterr().out
    )
    cann.answer("log-order", " > ".join(dict.fromkeys(marks)))
    assert re.search(r"\bE\d{5}\b", str(caught.value)), str(caught.value)


def test_options_of_the_manifest_are_flags_of_this_atc(cann: Installed) -> None:
    toolkit = cann.toolkit
    done = subprocess.run(
        [toolkit.atc, "--help"],
        env=environment_of(toolkit, str(cann.python), cann.folder),
        cwd=cann.folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    flags = set(re.findall(r"--([a-z][a-z0-9_]+)", done.stdout + done.stderr))
    known = {*Convert.model_fields, *Target.model_fields} - OURS
    missing, more = sorted(known - flags), sorted(flags - known)
    cann.answer("atc-flags", f"not there: {missing}, not ours: {more}")
    assert {"soc_version", "precision_mode"} <= flags


def test_session_tells_name_shape_and_size_of_an_input(device: Installed) -> None:
    om = own_word(device.build(small())).path
    (device.folder / "ask.py").write_text(ASK)
    done = subprocess.run(
        [str(device.device_python), str(device.folder / "ask.py"), str(om)],
        env=environment_of(device.toolkit, str(device.device_python), device.folder),
        cwd=device.folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    found = re.search(r"^FIELDS (.+)$", done.stdout, re.MULTILINE)
    device.answer("input-fields", found[1] if found else "the session could not be asked")
    assert found is not None, done.stderr[-2000:]
    assert {"name", "shape"} <= set(re.findall(r'"(\w+)":', found[1]))


def test_another_release_is_refused_before_anything_is_built(cann: Installed) -> None:
    with pytest.raises(StageError, match=r"convert\.cann is '1\.0'"):
        cann.build(small(), cann="1.0")
