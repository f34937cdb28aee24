"""Whole files: made here and real ones; cut short, mutated, and made to blow up memory."""

from __future__ import annotations

import json
import os
import re
import struct
import tracemalloc
from collections import Counter
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ascendflow.documents.json_file import json_text
from ascendflow.errors import StageError
from ascendflow.manifest import schema
from ascendflow.om.inspection import inspect_om
from tests import om_files
from tests.om_files import (
    BUNDLE,
    FLOW_SUBMODEL,
    INOUT_INFO,
    KERNELS,
    MESSAGE,
    MODEL_DEF,
    WEIGHTS,
    compressed_key,
    graph,
    inout_info,
    model_def,
    op,
    tensors,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ascendflow.documents.inspection import Inspection, OmModel

FLOW = "flow_model.om"
ROOT = "root_model.om"
DYNAMIC = "dynamic_and_static_graph_without_unfold.om"
REAL = (FLOW, ROOT, DYNAMIC)

SUBMODEL = MESSAGE["SubmodelDef"](
    model_name="m", model_type="NPU", om_data=om_files.static()
)
SMALL = (MODEL_DEF, model_def([graph("g", [])], {}))
IMAGE = ("image", 1, 4, [1, 8, 8, 3], [1, 3, 8, 8], [1, 1, 8, 64], 192)
COMPRESSED = {
    "attr_name_enum": ["index", "soc_version"],
    "attr_value_enum": ["Ascend310P3"],
    "attrs_use_string_value": [False, True],
    "om_compress_version": 1,
    compressed_key(1): 0,
}
MADE = {
    "static": om_files.static(),
    "old": om_files.static(wide=False),
    "padded": om_files.static(align=32),
    "dynamic": om_files.om([SMALL, (WEIGHTS, b"w")], [SMALL], [SMALL], unknown=1),
    "compressed": om_files.static(COMPRESSED),
    "signature": om_files.om([(INOUT_INFO, inout_info((0, tensors(IMAGE)))), SMALL]),
    "flow": om_files.om([SMALL, (FLOW_SUBMODEL, SUBMODEL.SerializeToString())], kind=3),
    "bundle": om_files.bundle(om_files.static(), om_files.static(wide=False)),
}


@pytest.fixture
def om(request: pytest.FixtureRequest) -> bytes:
    """Return a made file, or a real one where there is the material."""
    name = request.param
    if name in MADE:
        return MADE[name]
    path: Path = request.getfixturevalue("shared") / "om" / name
    if not path.is_file():
        pytest.skip(f"no such OM at {path}; ASCENDFLOW_SHARED names the material")
    return path.read_bytes()


every_file = pytest.mark.parametrize("om", [*MADE, *REAL], indirect=True)


def accounted(models: list[OmModel]) -> int:
    """Add up header, tables, partitions and padding."""
    return 256 + sum(
        model["table_size"]
        + model["padding"]
        + sum(part["size"] for part in model["partitions"])
        for model in models
    )


@every_file
def test_every_byte_is_accounted_for(
    inspect: Callable[[bytes], Inspection], om: bytes
) -> None:
    found = inspect(om)

    assert found["om"] is not None
    jsonschema.validate(json.loads(json_text(found)), json.loads(schema.read("inspection")))
    assert accounted(found["om"]["models"]) == found["size"] == len(om)
    for inner in found["om"]["submodels"]:
        assert accounted(inner["models"]) == inner["size"]
        assert om[inner["offset"] : inner["offset"] + 4] == b"IMOD"


@every_file
@pytest.mark.parametrize("patched", [False, True], ids=["as-it-is", "length-patched"])
def test_a_file_cut_short_anywhere_is_refused(
    tmp_path: Path, om: bytes, patched: bool
) -> None:
    """Also where the header's length was made to fit what is left."""
    if patched:
        om = om.rstrip(b"\0") if om == MADE["padded"] else om  # padding may be less
    path = tmp_path / "cut.om"
    path.write_bytes(om)
    for size in reversed(range(len(om))):
        os.truncate(path, size)
        if patched and size >= 256:
            _patch_length(path, size)
        with pytest.raises(StageError) as raised:
            inspect_om(path, digests=False)
        message = raised.value.message
        if size == 0:
            assert message.endswith("is empty: 0 bytes")
            continue
        assert re.search(rf"\(byte \d+ of {size}\)$", message), message
        if size >= 256 and not patched:
            bundle = om[82] == 5
            said, there = (len(om), size) if bundle else (len(om) - 256, size - 256)
            assert f"header says {said} bytes" in message
            assert f"there are {there} (" in message


def _patch_length(path: Path, size: int) -> None:
    with path.open("r+b") as file:
        head = file.read(256)
        length = size if head[82] == 5 else size - 256
        wide = any(head[184:192])
        file.seek(184 if wide else 76)
        file.write(struct.pack("<Q" if wide else "<I", length))


def real(shared: Path, name: str) -> Inspection:
    path = shared / "om" / name
    if not path.is_file():
        pytest.skip(f"no such OM at {path}; ASCENDFLOW_SHARED names the material")
    return inspect_om(path)


def test_the_real_dynamic_model_says_what_is_in_it(shared: Path) -> None:
    """What a dump by hand shows; its sub-models are compressed twice."""
    found = real(shared, DYNAMIC)

    assert found["om"] is not None
    assert [model["name"] for model in found["om"]["models"]] == ["root", "sub_1", "sub_2"]
    assert found["om"]["header"]["is_unknow_model"] == 1
    assert found["om"]["opp_version"] == "6.4.T5.0.B121"
    assert found["om"]["atc_command_line"] is None
    for model in found["om"]["models"]:
        sizes = {part["type"]: part["size"] for part in model["partitions"]}
        # GE's own sizes of weights, kernels, AI CPU kernels, tasks and libraries.
        names = (
            "WEIGHTS_DATA",
            "TBE_KERNELS",
            "CUST_AICPU_KERNELS",
            "TASK_INFO",
            "SO_BINS",
        )
        assert model["attributes"]["om_info_list"] == [sizes.get(name, 0) for name in names]
    assert [(each["name"], each["shape"]) for each in found["inputs"]] == [
        ("data_1", [2, 2]),
        ("data_2", [2, 2]),
    ]
    assert len(found["outputs"]) == 2


def test_the_real_flow_holds_two_models_with_their_own_signature(shared: Path) -> None:
    found = real(shared, FLOW)

    assert found["om"] is not None
    inner = found["om"]["submodels"]
    assert [(each["name"], each["type"]) for each in inner] == [
        ("graph1", "NPU"),
        ("graph2", "HOST_CPU"),
    ]
    assert found["om"]["header"]["model_type"] == "flow"


def test_the_real_signature_agrees_with_the_graph_beside_it(shared: Path) -> None:
    """root_model.om lists its ends twice, in two numberings; flow_model.om's is a graph."""
    listed, of_graph = (real(shared, name) for name in (ROOT, FLOW))

    for each in ("inputs", "outputs"):
        without_size = [
            [{**tensor, "size": None} for tensor in found[each]]
            for found in (listed, of_graph)
        ]
        assert without_size[0] == without_size[1]
    assert listed["inputs"][0]["dtype"] == "int32"


@every_file
def test_attributes_and_operators_are_those_that_protobuf_reads(
    inspect: Callable[[bytes], Inspection], om: bytes
) -> None:
    """The oracle is protobuf's own reader, which knows nothing of compression."""
    found = inspect(om)

    assert found["om"] is not None
    models = [*found["om"]["models"]]
    models += [model for inner in found["om"]["submodels"] for model in inner["models"]]
    checked = 0
    for model in models:
        for part in model["partitions"]:
            if part["type"] == "MODEL_DEF":
                data = om[part["offset"] : part["offset"] + part["size"]]
                _agree(model, MESSAGE["ModelDef"].FromString(data))
                checked += 1
    assert checked > 0


def _agree(model: OmModel, read: Any) -> None:
    assert model["name"] == read.name
    for graph_found, graph_read in zip(model["graphs"], read.graph, strict=True):
        assert graph_found["name"] == graph_read.name
        assert graph_found["operators"] == Counter(each.type for each in graph_read.op)
    plain = {each.key.decode(): each.value for each in read.attr if each.key[:1] != b"\0"}
    assert plain.keys() <= model["attributes"].keys()
    for name, value in plain.items():
        kind = value.WhichOneof("value")
        given: Any = getattr(value, kind)
        if kind == "list":
            given = [*given.s, *given.i, *given.b]
        shown: Any = model["attributes"][name]
        assert shown == _as_text(given), name


def _as_text(value: Any) -> Any:
    if isinstance(value, list):
        return [_as_text(each) for each in value]
    return value.decode() if isinstance(value, bytes) else value


def test_what_a_file_says_of_its_making_is_told(
    inspect: Callable[[bytes], Inspection],
) -> None:
    found = inspect(om_files.static())

    assert found["om"] is not None
    assert {key: found["om"][key] for key in WORDS} == WORDS  # type: ignore[literal-required]
    assert found["om"]["memory"] == {"memory_size": 1 << 20, "weight_size": 64}
    assert found["om"]["models"][0]["graphs"] == [
        {"name": "main", "operators": {"Conv2D": 1, "Data": 1, "NetOutput": 1}}
    ]
    assert found["outputs"][0]["name"] == "conv:0:logits"


WORDS = {
    "atc_command_line": om_files.COMMAND,
    "atc_version": "7.7.0.1.238",
    "opp_version": "7.7.0.1.238",
    "soc_version": "Ascend310P3",
    "framework": "ONNX",
}


@pytest.mark.parametrize(
    ("value", "word"), [(0, "Caffe"), ("3", "TensorFlow"), (9, "unknown (9)"), ("x", None)]
)
def test_the_framework_is_named_by_number_or_text(
    inspect: Callable[[bytes], Inspection], value: object, word: str | None
) -> None:
    found = inspect(om_files.static({"framework_type": value}))

    assert found["om"] is not None
    assert found["om"]["framework"] == word


def peak_of(path: Path) -> int:
    """Inspect and spell as JSON; return the peak of memory, in bytes."""
    problem = None
    tracemalloc.start()
    try:
        json_text(inspect_om(path))
    except StageError as error:
        problem = error.message
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert problem is None or re.search(r"\(byte \d+ of \d+\)$|is empty", problem), problem
    return peak


ROOM = 1 << 20
"""Bytes that Python and a small document take whatever the file's size."""


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """Change, remove and add bytes behind the header; often make its length fit."""
    made = draw(st.sampled_from(sorted(MADE)))
    content = bytearray(MADE[made])
    place = st.integers(256, len(content) - 1)
    for _ in range(draw(st.integers(0, 6))):
        content[draw(place)] = draw(st.integers(0, 255))
    start = draw(place)
    del content[start : start + draw(st.integers(0, 9))]
    start = draw(place)
    content[start:start] = draw(st.binary(max_size=9))
    if draw(st.booleans()):
        length = len(content) - (0 if made == "bundle" else 256)
        layout, offset = ("<I", 76) if made == "old" else ("<Q", 184)
        struct.pack_into(layout, content, offset, length)
    return bytes(content)


@settings(max_examples=400, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=mutated())
def test_a_mutated_file_is_read_or_refused_in_little_memory(
    tmp_path: Path, content: bytes
) -> None:
    path = tmp_path / "mutated.om"
    path.write_bytes(content)

    peak = peak_of(path)

    assert peak < 10 * len(content) + ROOM


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    content=st.binary(max_size=400),
    kind=st.sampled_from([MODEL_DEF, INOUT_INFO, FLOW_SUBMODEL, BUNDLE, KERNELS]),
)
def test_a_partition_of_any_bytes_is_read_or_refused(
    tmp_path: Path, content: bytes, kind: int
) -> None:
    parts = [(kind, content)] if kind == MODEL_DEF else [SMALL, (kind, content)]
    path = tmp_path / "any.om"
    path.write_bytes(om_files.om(parts))

    peak = peak_of(path)

    assert peak < 10 * path.stat().st_size + ROOM


def field(number: int, content: bytes) -> bytes:
    """Write a field of protobuf, by hand."""
    key, length, written = number << 3 | 2, len(content), b""
    for value in (key, length):
        while value > 127:
            written += bytes([value & 127 | 128])
            value >>= 7  # noqa: PLW2901
        written += bytes([value])
    return written + content


def model(content: bytes) -> bytes:
    return om_files.om([(MODEL_DEF, content)])


def enumerating(ops: list[Any], texts: list[str], names: int = 1) -> bytes:
    values = {
        "attr_name_enum": [f"n{i}" for i in range(names)],
        "attr_value_enum": texts,
        "attrs_use_string_value": [True] * names,
        "om_compress_version": 1,
    }
    return model(model_def([graph("g", ops)], values))


def many_names() -> bytes:
    """Write an output whose every attribute is the same long text, by two bytes each."""
    attributes = {compressed_key(i): 0 for i in range(5000)}
    ops = [op("out", "NetOutput", attributes)]
    return enumerating(ops, ["x" * 60000], names=5000)


def long_lists() -> bytes:
    """Write lists of indices, each for a text of some length."""
    attributes = {compressed_key(i): [0] * 250 for i in range(200)}
    return enumerating([op("out", "NetOutput", attributes)], ["y" * 4000], names=200)


def nested(depth: int) -> bytes:
    content = om_files.static()
    for _ in range(depth):
        content = om_files.bundle(content)
    return content


COUNT = 20_000
BOMBS: dict[str, Callable[[], bytes]] = {
    "empty-graphs": lambda: model(b"\x3a\x00" * COUNT),
    "empty-attributes": lambda: model(b"\x5a\x00" * COUNT),
    "named-attributes": lambda: model(
        b"".join(field(11, field(1, i.to_bytes(3, "big"))) for i in range(COUNT))
    ),
    "empty-operators": lambda: model(field(7, b"\x32\x00" * COUNT)),
    "types": lambda: model(
        field(7, b"".join(field(6, field(2, b"%x" % i)) for i in range(COUNT)))
    ),
    "attributes-of-an-operator": lambda: model(
        field(7, field(6, b"\x52\x00" * COUNT + field(2, b"NetOutput")))
    ),
    "inputs": lambda: model(field(7, field(6, field(2, b"Data")) * COUNT)),
    "outputs": lambda: model(
        field(7, field(6, field(2, b"NetOutput") + b"\x8a\x02\x00" * COUNT))
    ),
    "dimensions": lambda: model(
        field(
            7,
            field(
                6,
                field(2, b"NetOutput") + field(33, field(3, field(1, b"\x01" * 3 * COUNT))),
            ),
        )
    ),
    "empty-texts": lambda: enumerating([], [""] * COUNT),
    "one-text-many-times": many_names,
    "one-text-in-many-lists": long_lists,
    "control-characters": lambda: om_files.static(
        {f"n{i}": "\x01" * 60000 for i in range(9)}
    ),
    "kernels": lambda: om_files.om(
        [SMALL, (KERNELS, struct.pack("<III", 0x5D776EFD, 0, 0) * COUNT)]
    ),
    "tables": lambda: om_files.om(*[[SMALL]] * 9000),
    "partitions": lambda: om_files.om(*[[SMALL, *[(99, b"")] * 4095]] * 9),
    "inout-count": lambda: om_files.om(
        [
            SMALL,
            (INOUT_INFO, inout_info((6, struct.pack("<I", 2**32 - 1) + bytes(COUNT * 4)))),
        ]
    ),
    "inout-texts": lambda: om_files.om(
        [SMALL, (INOUT_INFO, inout_info((6, struct.pack("<I", COUNT) + bytes(COUNT * 4))))]
    ),
    "inout-blocks": lambda: om_files.om([SMALL, (INOUT_INFO, bytes(8) * COUNT)]),
    "nested": lambda: nested(900),
    "gears": lambda: model(
        model_def(
            [
                graph(
                    "g",
                    [
                        op(
                            "case",
                            "Case",
                            {"mbatch_dynamic_type": 3, "_batch_num": 2**62},
                        )
                    ],
                )
            ],
            {},
        )
    ),
}


@pytest.mark.parametrize("name", BOMBS)
def test_few_bytes_never_become_many(tmp_path: Path, name: str) -> None:
    content = BOMBS[name]()
    path = tmp_path / "bomb.om"
    path.write_bytes(content)

    peak = peak_of(path)

    assert peak < 10 * len(content) + ROOM


def test_a_budget_that_is_used_up_is_told_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "bomb.om"
    path.write_bytes(many_names())

    with pytest.raises(
        StageError, match=r"takes more than \d+ bytes to tell \(byte \d+ of"
    ):
        inspect_om(path)
