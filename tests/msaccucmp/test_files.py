"""msaccucmp reads our files, and its numbers and its table are what we make of them."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ascendflow.backends.cann.dump.computed import computed
from ascendflow.backends.cann.dump.names import spelled
from ascendflow.backends.cann.dump.origins import device_ops
from ascendflow.backends.cann.dump.results import METRICS, problems, read_results
from ascendflow.metrics.measure import measure
from ascendflow.tensors import TensorSet, TensorWriter
from tests import om_files
from tests.dump_files import dump
from tests.msaccucmp import peer
from tests.wheels import UnavailableError

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from ascendflow.backends.cann.dump.results import Result

    Array = NDArray[Any]

pytestmark = pytest.mark.slow

NUMBERS = {"float32": 1, "float16": 2, "bool": 11}
NCHW, ND, NC1HWC0, FRACTAL_Z, FRACTAL_NZ, NDC1HWC0 = 0, 2, 3, 4, 29, 32
TIME = 1_600_000_000_000_000


def close(ours: dict[str, float], theirs: dict[str, float]) -> bool:
    """Equal to the six decimals it prints; the accumulated error sums its roundings."""
    return all(
        abs(ours[name] - its) <= 1e-6 + 1e-5 * abs(ours[name]) + 1e-4 * ("accumul" in name)
        for name, its in theirs.items()
    )


def test_tool_that_cannot_be_had_is_missed_aloud_and_not_at_all_where_it_is_required(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: object) -> None:
        raise UnavailableError("pip cannot fetch it")

    monkeypatch.setattr(peer, "unpacked", refuse)
    monkeypatch.setenv(peer.REQUIRED, "required")
    with pytest.raises(UnavailableError):
        peer.tool()
    monkeypatch.delenv(peer.REQUIRED)
    with pytest.raises(pytest.skip.Exception, match="pip cannot fetch it; ASCENDFLOW_"):
        peer.tool()


def test_tensor_sets_of_ours_are_compared_as_we_do(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    golden = {"y": rng.standard_normal((2, 3, 8, 8), np.float32)}
    target = {"y": (golden["y"] * 1.001 + 0.002).astype(np.float16)}
    for name, made in (("golden", golden), ("target", target)):
        with TensorWriter(tmp_path / name) as writer:
            writer.write("sample", made)
    paths = [tmp_path / name / "000000.000.npy" for name in ("target", "golden")]

    status, said = peer.command("compare", "-m", paths[0], "-g", paths[1])

    assert status == 0, said
    titles, numbers = (
        line.partition("[INFO] ")[2].split() for line in said.splitlines()[-3:-1]
    )
    printed = dict(zip(titles, numbers, strict=True))
    sets = [TensorSet(tmp_path / name).load(0, "y") for name in ("golden", "target")]
    theirs = {ours: float(printed[its]) for its, ours in METRICS.items() if ours}
    assert close(measure(*sets).metrics, theirs)


# A network of device operators: an input, a convolution with its Relu, a TransData that
# the compiler inserted, a MatMul whose output is wrong, weights, a volume, booleans, one
# number, one whose golden has another size (the tool compares what both have), and one
# without a golden.


def laid_as_planes(array: Array, c0: int = 16) -> Array:
    n, c, h, w = array.shape
    made = np.zeros((n, -(-c // c0), h, w, c0), array.dtype)
    for channel in range(c):
        made[:, channel // c0, :, :, channel % c0] = array[:, channel]
    return made


def laid_as_squares(array: Array, c0: int = 16) -> Array:
    height, width = array.shape
    made = np.zeros((-(-width // c0), -(-height // 16), 16, c0), array.dtype)
    for y in range(height):
        for x in range(width):
            made[x // c0, y // 16, y % 16, x % c0] = array[y, x]
    return made


def laid_as_weights(array: Array, c0: int = 16) -> Array:
    n, c, h, w = array.shape
    made = np.zeros((-(-c // c0) * h * w, -(-n // 16), 16, c0), array.dtype)
    for i, j, y, x in np.ndindex(n, c, h, w):
        made[(j // c0 * h + y) * w + x, i // 16, i % 16, j % c0] = array[i, j, y, x]
    return made


def laid_as_volumes(array: Array, c0: int = 16) -> Array:
    n, c, d, h, w = array.shape
    made = np.zeros((n, d, -(-c // c0), h, w, c0), array.dtype)
    for channel in range(c):
        made[:, :, channel // c0, :, :, channel % c0] = array[:, channel]
    return made


def part(array: Array, layout: int, laid: Array) -> tuple[bytes, dict[str, Any]]:
    told: dict[str, Any] = {"data_type": NUMBERS[array.dtype.name], "format": layout}
    told["shape"], told["original_shape"] = {"dim": laid.shape}, {"dim": array.shape}
    return laid.tobytes(), told


def op(
    name: str, kind: str, layout: str, inputs: list[str], nodes: list[str]
) -> dict[str, Any]:
    described = [
        {"key": "origin_format", "value": {"s": layout}},
        {"key": "_datadump_origin_format", "value": {"s": layout}},
        {"key": "_datadump_origin_output_index", "value": {"i": 0}},
        {"key": "_datadump_origin_name", "value": {"s": nodes[-1] if nodes else ""}},
    ]
    if not nodes:
        described = []
    names = {"list": {"s": nodes} if nodes else {}}
    return {
        "name": name,
        "type": kind,
        "input": inputs,
        "attr": [{"key": "_datadump_original_op_names", "value": names}],
        "output_desc": [{"attr": described, "dtype": "DT_FLOAT16"}],
    }


def om_of(ops: list[dict[str, Any]]) -> bytes:
    """Write the OM of which these operators are the JSON."""

    def plain(said: list[dict[str, Any]]) -> dict[str, Any]:
        values = {each["key"]: each["value"] for each in said}
        return {
            key: value["list"].get("s", [])
            if "list" in value
            else next(iter(value.values()))
            for key, value in values.items()
        }

    written = []
    for each in ops:
        described = [
            om_files.desc(2, [], attr=om_files.attrs(plain(output["attr"])))
            for output in each["output_desc"]
        ]
        said = plain(each["attr"])
        one = om_files.op(each["name"], each["type"], said, output_desc=described)
        written.append(one)
    model = om_files.model_def([om_files.graph("g", written)], {})
    return om_files.om([(om_files.MODEL_DEF, model)])


GOLDEN: dict[str, Array] = {
    "x": np.random.default_rng(5).standard_normal((1, 3, 6, 5), np.float32),
    "relu/1": np.random.default_rng(6).random((1, 20, 6, 5), np.float32),
    "matmul": np.random.default_rng(7).standard_normal((18, 40), np.float32),
    "weights": np.random.default_rng(9).standard_normal((18, 5, 3, 3), np.float32),
    "volume": np.random.default_rng(10).standard_normal((1, 19, 2, 3, 4), np.float32),
    "mask": np.random.default_rng(8).random((4, 9)) < 0.5,
    "one": np.array([-2.5], np.float32),
    "short": np.ones(7, np.float32),
}
OUTPUTS = {"x": ["x"], "conv": ["c"], "relu/1": ["r"], "matmul": ["m"], "mask": ["b"]}
OUTPUTS |= {"one": ["1"], "short": ["s"], "gone": ["g"]}
OUTPUTS |= {"weights": ["w"], "volume": ["v"]}


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Dumps of the device, goldens, the OM's JSON, and the table that the tool makes."""
    folder: Path = tmp_path_factory.mktemp("network")
    device, golden = folder / "npu", folder / "onnx"
    device.mkdir()
    golden.mkdir()
    for name, array in GOLDEN.items():
        np.save(golden / f"{spelled(name)}.0.{TIME}.npy", array)
    x = GOLDEN["x"]
    relu = GOLDEN["relu/1"].astype(np.float16)
    product = (GOLDEN["matmul"] * np.float32(0.5)).astype(np.float16)
    planes, squares = laid_as_planes(relu), laid_as_squares(product)
    files = {
        f"Data.x.0.0.{TIME}": dump(outputs=[part(x, NCHW, x)], op_name="x"),
        f"Conv2D.conv_relu_1.3.1.{TIME + 1}": dump(
            [part(x, NCHW, x)], [part(relu, NC1HWC0, planes)], op_name="conv/relu.1"
        ),
        f"TransData.trans_0.4.1.{TIME + 2}": dump(
            [part(relu, NC1HWC0, planes)], [part(relu, NCHW, relu)], op_name="trans_0"
        ),
        f"MatMulV2.matmul.5.1.{TIME + 3}": dump(
            [part(relu, NCHW, relu)], [part(product, FRACTAL_NZ, squares)], op_name="matmul"
        ),
    }
    plain = {name: GOLDEN[name] for name in ("mask", "one")} | {"short": np.ones(8, "f4")}
    plain["gone"] = np.ones(3, "f4")
    weights, volume = (GOLDEN[name].astype(np.float16) for name in ("weights", "volume"))
    files[f"Conv2D.weights.20.1.{TIME + 20}"] = dump(
        outputs=[part(weights, FRACTAL_Z, laid_as_weights(weights))], op_name="weights"
    )
    files[f"Conv3D.volume.21.1.{TIME + 21}"] = dump(
        outputs=[part(volume, NDC1HWC0, laid_as_volumes(volume))], op_name="volume"
    )
    for number, (name, array) in enumerate(plain.items(), 6):
        data = dump(outputs=[part(array, ND, array)], op_name=name)
        files[f"Op.{name}.{number}.1.{TIME + number}"] = data
    for name, data in files.items():
        (device / name).write_bytes(data)
    ops = [
        op("x", "Data", "NCHW", [], ["x"]),
        op("conv/relu.1", "Conv2D", "NCHW", ["x:0"], ["conv", "relu/1"]),
        op("trans_0", "TransData", "NCHW", ["conv/relu.1:0"], []),
        op("matmul", "MatMulV2", "ND", ["trans_0:0"], ["matmul"]),
        op("weights", "Conv2D", "NCHW", [], ["weights"]),
        op("volume", "Conv3D", "NCDHW", [], ["volume"]),
        *(op(name, "Op", "ND", [], [name]) for name in plain),
    ]
    model = folder / "model.json"
    model.write_text(json.dumps({"name": "m", "graph": [{"name": "g", "op": ops}]}))
    (folder / "model.om").write_bytes(om_of(ops))
    (folder / "out").mkdir()
    arguments = ["-m", device, "-g", golden, "-f", model, "-out", folder / "out"]
    status, said = peer.command("compare", *arguments)
    assert status in (0, 2), said
    (folder / "said.txt").write_text(said)
    return folder


def table(folder: Path) -> list[Result]:
    (path,) = (folder / "out").glob("result_*.csv")
    return read_results(path)


def test_table_that_the_tool_writes_is_read(network: Path) -> None:
    rows = {row.tensor: row for row in table(network)}
    conv = rows["conv/relu.1:output:0"]

    assert (conv.device_ops, conv.nodes) == ("conv/relu.1", "conv,relu/1")
    assert (conv.device_dtype, conv.golden_dtype) == ("float16", "float32")
    assert (conv.op_type, conv.shape) == ("Conv2D", "[1,20,6,5]")
    assert not rows["trans_0:output:0"].has_golden


def test_verdict_is_recomputed_of_the_tools_own_rows(network: Path) -> None:
    outputs = {row.nodes: row for row in table(network) if row.tensor.endswith("output:0")}
    found = {nodes: problems(row) for nodes, row in outputs.items() if row.has_golden}
    (of_matmul,) = found.pop("matmul")
    of_gone = found.pop("gone")

    assert re.match("relative_euclidean_distance is 0.49999., the limit 0.05", of_matmul)
    assert of_gone[0].startswith("it was not compared: ")
    assert len(of_gone) == 6  # nor has it a number
    right = ("x", "conv,relu/1", "weights", "volume", "mask", "one", "short")
    assert found == {nodes: [] for nodes in right}


def test_our_numbers_of_the_dumps_are_the_tools(network: Path) -> None:
    """Through our reader, layouts, mapping and metrics, against the tool's own."""
    ops = device_ops(network / "model.om")
    goldens = dict(
        zip(("x", "r", "m", "w", "v", "b", "1", "s"), GOLDEN.values(), strict=True)
    )
    rows = {row.tensor: row for row in table(network)}
    found = {
        name: each.load()
        for name, each in computed(network / "npu", ops, OUTPUTS, pytest.fail).items()
    }

    assert set(found) == {*goldens, "g"}
    assert found["s"].shape != goldens["s"].shape  # which the tool does not tell
    assert (found["b"] == goldens["b"]).all()
    assert rows["one:output:0"].metrics.pop("cosine_similarity") == 1  # of any number
    for name, op in {
        "x": "x",
        "r": "conv/relu.1",
        "m": "matmul",
        "w": "weights",
        "v": "volume",
        "1": "one",
    }.items():
        ours = measure(goldens[name], found[name]).metrics
        assert close(ours, rows[f"{op}:output:0"].metrics), name
