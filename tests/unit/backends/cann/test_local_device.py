"""The device is a stand-in: onnxruntime computes, and it checks as little as ais_bench."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from ascendflow.errors import StageError, ToolFailedError
from tests.exported_models import model, node, value
from tests.oms import Device

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

GENERATOR = np.random.default_rng(3)


@pytest.fixture
def device(tmp_path: Path) -> Device:
    return Device(tmp_path)


def sums() -> onnx.ModelProto:
    """Make a model of two inputs and two outputs, which are easily mistaken."""
    nodes = [
        node("Sub", ["a", "b"], ["less"], name="sub"),
        node("Add", ["a", "b"], ["more"], name="add"),
    ]
    return model(
        nodes,
        [value("a", [1, 4]), value("b", [1, 4])],
        [value("more", [1, 4]), value("less", [1, 4])],
    )


def relu(shape: Sequence[int | str]) -> onnx.ModelProto:
    return model(
        [node("Relu", ["x"], ["y"], name="act")], [value("x", shape)], [value("y", shape)]
    )


def drawn(*shape: int) -> np.ndarray:
    return GENERATOR.standard_normal(shape).astype(np.float32)


def test_outputs_come_by_name_for_every_sample_of_one_session(device: Device) -> None:
    om = device.built(sums(), {"a": [1, 4], "b": [1, 4]})
    feeds = [{"a": drawn(1, 4), "b": drawn(1, 4)} for _ in range(3)]
    found = device.run(om, *feeds)
    for fed, outputs in zip(feeds, found, strict=True):
        assert list(outputs) == ["more", "less"]
        np.testing.assert_array_equal(outputs["more"], fed["a"] + fed["b"])
        np.testing.assert_array_equal(outputs["less"], fed["a"] - fed["b"])


def test_feeds_are_held_to_the_om_since_ais_bench_counts_bytes_only(device: Device) -> None:
    om = device.built(sums(), {"a": [1, 4], "b": [1, 4]})
    good = drawn(1, 4)
    wrong: dict[str, np.ndarray] = {
        "input 'b' is float32 in the OM, fed is int32": good.astype(np.int32),
        "input 'b' is float32 in the OM, fed is float64": good[:, :2].astype(np.float64),
        r"input 'b' has shape \[1, 4\] in the OM, fed is \[4, 1\]": good.T,
    }
    for text, fed in wrong.items():
        with pytest.raises(StageError, match=f"at sample number 1: .*{text}"):
            device.run(om, {"a": good, "b": good}, {"a": good, "b": fed})
    with pytest.raises(StageError, match=r"inputs are \['a', 'b'\], fed are \['a', 'c'\]"):
        device.run(om, {"a": good, "c": good})


def test_array_that_does_not_lie_in_order_is_put_in_order(device: Device) -> None:
    om = device.built(sums(), {"a": [1, 4], "b": [1, 4]})
    strided = drawn(1, 8)[:, ::2]
    (found,) = device.run(om, {"a": strided, "b": strided})
    np.testing.assert_array_equal(found["more"], 2 * strided)


@pytest.mark.parametrize(
    ("options", "shapes"),
    [
        (
            {"dynamic_batch_size": [1, 4], "input_shape": {"x": [-1, 3, 8, 8]}},
            [(4, 3, 8, 8), (1, 3, 8, 8)],
        ),
        (
            {"dynamic_image_size": [[8, 8], [8, 16]], "input_shape": {"x": [1, 3, -1, -1]}},
            [(1, 3, 8, 8), (1, 3, 8, 16)],
        ),
        (
            {"dynamic_dims": [[1, 8], [2, 16]], "input_shape": {"x": [-1, 3, 8, -1]}},
            [(2, 3, 8, 16), (1, 3, 8, 8)],
        ),
    ],
    ids=["batch", "image", "dims"],
)
@pytest.mark.parametrize("api", ["ais_bench", "pyacl"])
def test_gear_is_that_of_each_sample(
    device: Device, options: dict[str, object], shapes: list[tuple[int, ...]], api: str
) -> None:
    """The OM tells its outputs with the sizes of the largest gear, whichever runs."""
    om = device.built(relu(["n", 3, "h", "w"]), {"x": list(shapes[0])}, **options)
    fed = [drawn(*shape) for shape in shapes]
    found = device.run(om, *({"x": each} for each in fed), api=api)
    for each, outputs in zip(fed, found, strict=True):
        np.testing.assert_array_equal(outputs["y"], np.maximum(each, 0))


@pytest.mark.parametrize("api", ["ais_bench", "pyacl"])
def test_output_may_be_open_where_the_inputs_are_fixed(device: Device, api: str) -> None:
    y = helper.make_tensor_value_info("y", TensorProto.INT64, [2, "n"])
    proto = model([node("NonZero", ["x"], ["y"], name="find")], [value("x", [1, 4])], [y])
    om = device.built(proto, {"x": [1, 4]})
    fed = [np.array([row], np.float32) for row in ([0, 1, 0, 1], [1, 1, 1, 0], [0] * 4)]
    found = device.run(om, *({"x": each} for each in fed), api=api)
    for each, outputs in zip(fed, found, strict=True):
        np.testing.assert_array_equal(outputs["y"], np.array(np.nonzero(each)))


def test_sample_without_a_gear_is_refused_with_the_gears(device: Device) -> None:
    # SH08 and IO09: 1x200 is no gear, and is not rounded to one.
    gears = {"dynamic_dims": [[1, 160], [1, 320], [8, 320]]}
    shape = {"input_shape": {"x": [-1, 3, 48, -1]}}
    om = device.built(relu(["n", 3, 48, "w"]), {"x": [1, 3, 48, 160]}, **gears, **shape)
    with pytest.raises(StageError, match=r"sizes are 1,200, .* are 1,160; 1,320; 8,320"):
        device.run(om, {"x": drawn(1, 3, 48, 160)}, {"x": drawn(1, 3, 48, 200)})


@pytest.mark.parametrize("api", ["ais_bench", "pyacl"])
def test_dynamic_shape_takes_each_sample_as_it_is(device: Device, api: str) -> None:
    om = device.built(
        relu(["n", 3]), {"x": [2, 3]}, dynamic_shape=True, input_shape={"x": [-1, 3]}
    )
    fed = [{"x": drawn(n, 3)} for n in (5, 1, 7)]
    for sample, outputs in zip(fed, device.run(om, *fed, api=api), strict=True):
        np.testing.assert_array_equal(outputs["y"], np.maximum(sample["x"], 0))


def test_old_ais_bench_is_not_asked_for_gears_that_it_would_pass_over(
    device: Device,
) -> None:
    device.says(few_modes=True)
    dims = {"dynamic_dims": [[1], [4]], "input_shape": {"x": [-1, 3]}}
    om = device.built(relu(["n", 3]), {"x": [4, 3]}, **dims)
    fed = drawn(4, 3)
    (found,) = device.run(om, {"x": fed})
    np.testing.assert_array_equal(found["y"], np.maximum(fed, 0))
    batch = {"dynamic_batch_size": [1, 4], "input_shape": {"x": [-1, 3]}}
    om = device.built(relu(["n", 3]), {"x": [4, 3]}, **batch)
    with pytest.raises(
        StageError, match=r"knows no mode 'dymbatch', only dymdims, dymshape, static; use"
    ):
        device.run(om, {"x": fed})


def test_name_that_ais_bench_would_cut_is_left_to_pyacl(device: Device) -> None:
    proto = model(
        [node("Relu", ["in:0"], ["y"], name="act")],
        [value("in:0", ["n", 3])],
        [value("y", ["n", 3])],
    )
    dims = {"dynamic_dims": [[1], [4]], "input_shape": {"in:0": [-1, 3]}}
    om = device.built(proto, {"in:0": [4, 3]}, **dims)
    fed = {"in:0": drawn(4, 3)}
    with pytest.raises(StageError, match="'in:0' is cut; use `api: pyacl`"):
        device.run(om, fed)
    (found,) = device.run(om, fed, api="pyacl")
    np.testing.assert_array_equal(found["y"], np.maximum(fed["in:0"], 0))


@pytest.mark.parametrize("api", ["ais_bench", "pyacl"])
def test_aipp_whose_parameters_nobody_tells_is_refused(device: Device, api: str) -> None:
    om = device.built(relu([1, 4]), {"x": [1, 4]})
    device.says(more_inputs=["ascend_dynamic_aipp_data"])
    with pytest.raises(StageError, match="build it with a static AIPP"):
        device.run(om, {"x": drawn(1, 4)}, api=api)


def test_soc_and_cann_are_held_before_the_om_is_loaded(device: Device) -> None:
    # EV03: the device and the file are not of one kind.
    om = device.built(relu([1, 4]), {"x": [1, 4]})
    device.says(soc="Ascend310B1")
    with pytest.raises(
        StageError, match="built for Ascend310P3, and device 0 is Ascend310B1"
    ):
        device.run(om, {"x": drawn(1, 4)})
    device.says(soc="")
    with pytest.raises(StageError, match="which SoC the device is cannot be told"):
        device.run(om, {"x": drawn(1, 4)})
    device.says()
    for info in device.toolkit.glob("*/*.info"):
        info.write_text(info.read_text().replace("8.1.RC1", "8.0.RC3"))
    with pytest.raises(
        StageError, match=r"built by CANN 8.1.RC1, and 8.0.RC3 is to run it"
    ):
        device.run(om, {"x": drawn(1, 4)})


def test_crash_tells_the_sample(device: Device) -> None:
    om = device.built(relu([1, 4]), {"x": [1, 4]})
    device.says(dies_at=2)
    with pytest.raises(
        ToolFailedError, match=r"at sample number 2: the worker was killed by SIGSEGV"
    ):
        device.run(om, *[{"x": drawn(1, 4)}] * 4)


def test_session_without_free_resource_ends_as_well(device: Device) -> None:
    om = device.built(relu([1, 4]), {"x": [1, 4]})
    device.says(no_free_resource=True)
    assert len(device.run(om, {"x": drawn(1, 4)})) == 1


def test_what_cannot_run_says_what_to_do(device: Device) -> None:
    om = device.built(relu([1, 4]), {"x": [1, 4]})
    fed = {"x": drawn(1, 4)}
    with pytest.raises(StageError, match=r"infer.python: /no/python3 cannot be run"):
        device.run(om, fed, python="/no/python3")
    with pytest.raises(ToolFailedError, match="invalid device"):
        device.run(om, fed, device=3)
    (device.infer_python.parents[1] / "site/ais_bench/infer/interface.py").unlink()
    with pytest.raises(ToolFailedError, match="No module named 'ais_bench") as raised:
        device.run(om, fed)
    assert "api: pyacl" in str(raised.value.hint)
    (om / "model.om").write_bytes((om / "model.om").read_bytes()[:-1])
    with pytest.raises(StageError, match=r"model.om: cut short: the header says \d+ bytes"):
        device.run(om, fed)
    (om / "model.om").unlink()
    with pytest.raises(StageError, match="must hold one OM, holds none"):
        device.run(om, fed)
    (om / "model.json").unlink()
    with pytest.raises(StageError, match=r"model.json is missing"):
        device.run(om, fed)


def test_output_of_another_type_is_read_as_what_it_is(device: Device, shared: Path) -> None:
    # FP11: eight bytes are four float16, and become the model's float32.
    case = shared / "cases/FP11"
    said = json.loads((case / "observed.json").read_text())
    om = device.built(onnx.load(case / "model.onnx"), {"x": [1, 4]}, output_type="FP16")
    (found,) = device.run(om, {"x": np.load(case / "x.npy")})
    assert found["y"].dtype == np.float32
    assert found["y"].reshape(-1).tolist() == said["right_read"]


@pytest.mark.parametrize("api", ["ais_bench", "pyacl"])
def test_input_that_the_om_takes_as_float16_is_fed_so(device: Device, api: str) -> None:
    proto = model(
        [node("Add", ["a", "b"], ["y"], name="add")],
        [value("a", [1, 4]), value("b", [1, 4])],
        [value("y", [1, 4])],
    )
    shapes = {"a": [1, 4], "b": [1, 4]}
    om = device.built(proto, shapes, input_fp16_nodes=["b"])
    fed = np.array([[1.0, 2**-11, 1 + 2**-12, 70000.0]], np.float32)

    (found,) = device.run(om, {"a": np.zeros_like(fed), "b": fed}, api=api)

    assert found["y"].tolist() == [[1.0, 2**-11, 1.0, np.inf]]


def test_outputs_of_another_place_are_refused_not_matched_by_position(
    device: Device, shared: Path
) -> None:
    # GR28: the OM's one output is not the model's one output.
    case = shared / "cases/GR28"
    proto = onnx.load(case / "model.onnx")
    om = device.built(proto, {"x": [3]})
    cut = onnx.load(case / "model.onnx")
    cut.graph.output[0].name = "a"
    del cut.graph.node[1:]
    (device.folder / "cut").mkdir()
    signature = (om / "model.json").read_text()
    om = device.built(cut, {"x": [3]})
    (om / "model.json").write_text(signature)
    with pytest.raises(
        StageError, match=r"outputs are Conv_80:0:a, the model's are Abs_82:0:y"
    ):
        device.run(om, {"x": np.load(case / "x.npy")})


def test_scalars_and_bools_pass_the_seam_bit_for_bit(device: Device) -> None:
    proto = model(
        [node("Neg", ["x"], ["y"], name="neg"), node("Not", ["f"], ["g"], name="not")],
        [value("x", []), helper.make_tensor_value_info("f", TensorProto.BOOL, [2])],
        [value("y", []), helper.make_tensor_value_info("g", TensorProto.BOOL, [2])],
    )
    om = device.built(proto, {"x": [], "f": [2]})
    fed = {"x": np.float32(1.5), "f": np.array([True, False])}
    for api in ("ais_bench", "pyacl"):
        (found,) = device.run(om, {k: np.asarray(v) for k, v in fed.items()}, api=api)
        assert found["y"].shape == ()
        assert found["y"] == -1.5
        assert found["g"].tolist() == [False, True]


def test_resize_of_the_device_shows_in_the_numbers(device: Device) -> None:
    scales = onnx.numpy_helper.from_array(np.array([1, 1, 2, 2], np.float32), "s")
    resize = node("Resize", ["x", "", "s"], ["y"], name="up", mode="linear")
    proto = model(
        [resize], [value("x", [1, 1, 2, 2])], [value("y", [1, 1, 4, 4])], [scales]
    )
    om = device.built(proto, {"x": [1, 1, 2, 2]})
    fed = {"x": np.arange(4, dtype=np.float32).reshape(1, 1, 2, 2)}
    (right,) = device.run(om, fed)
    device.says(resize=True)
    (wrong,) = device.run(om, fed)
    assert right["y"][0, 0, 0].tolist() == [0, 0.25, 0.75, 1]  # half pixels
    assert wrong["y"][0, 0, 0].tolist() == [0, 0.5, 1, 1]  # x / 2


def test_batch_that_onnxsim_kept_open_runs_at_its_gears(
    device: Device, shared: Path
) -> None:
    # SH03: the model is simplified with an open batch, and is right at another than 1.
    case = shared / "cases/SH03"
    gears = {"dynamic_batch_size": [1, 3], "input_shape": {"x": [-1, 2, 3]}}
    om = device.built(onnx.load(case / "free.sim.onnx"), {"x": [3, 2, 3]}, **gears)
    (found,) = device.run(om, {"x": np.load(case / "x.npy")})
    np.testing.assert_array_equal(found["y"], np.load(case / "expected.npy"))


AIPP = {
    "input_format": "RGB888_U8",
    "src_image_size": [4, 4],
    "mean": [123.675, 116.28, 103.53],
    "scale": [0.0171247538, 0.0175070028, 0.0174291938],
}


@pytest.mark.parametrize("api", ["ais_bench", "pyacl"])
def test_pictures_are_fed_as_bytes_and_prepared_once(
    device: Device, shared: Path, api: str
) -> None:
    """IO01: uint8 NHWC of 48 bytes; what is prepared already is refused, not done again."""
    case = shared / "cases/IO01"
    proto = onnx.load(case / "model.onnx")
    om = device.built(proto, {"x": [1, 3, 4, 4]}, aipp={"x": AIPP})
    picture = np.load(case / "img_uint8_nhwc.npy")
    assert picture.nbytes == 48
    (found,) = device.run(om, {"x": picture}, api=api)
    np.testing.assert_allclose(found["y"], np.load(case / "expected.npy"), rtol=1e-5)

    swapped = device.built(
        proto, {"x": [1, 3, 4, 4]}, aipp={"x": {**AIPP, "swap_channels": True}}
    )
    (wrong,) = device.run(swapped, {"x": picture}, api=api)
    said = json.loads((case / "observed.json").read_text())
    difference = np.abs(wrong["y"] - found["y"]).max()
    assert difference == pytest.approx(said["bgr_diff"], rel=1e-5)

    prepared = np.load(case / "x_after_aipp.npy")
    with pytest.raises(
        StageError, match=r"'x' is uint8 in the OM, fed is float32; input 'x' has shape"
    ):
        device.run(om, {"x": prepared}, api=api)
    with pytest.raises(StageError, match=r"has shape \[1, 4, 4, 3\] in the OM, fed is"):
        device.run(om, {"x": picture.transpose(0, 3, 1, 2)}, api=api)


@pytest.mark.parametrize("api", ["ais_bench", "pyacl"])
def test_boxes_whose_number_depends_on_the_data_come_as_they_are(
    device: Device, shared: Path, api: str
) -> None:
    """OP04."""
    case = shared / "cases/OP04"
    om = device.built(onnx.load(case / "model.onnx"), {"b": [1, 4, 4], "s": [1, 1, 4]})
    fed = {name: np.load(case / f"{name}.npy") for name in ("b", "s")}
    none = {**fed, "s": np.zeros_like(fed["s"])}
    found, empty = device.run(om, fed, none, api=api)
    assert found["y"].tolist() == [[0, 0, 2], [0, 0, 0]]
    assert empty["y"].shape == (0, 3)
