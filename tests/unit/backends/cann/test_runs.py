"""Every tensor of a run on a stand-in device, which dumps in a device's own layouts."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest

from ascendflow.errors import StageError, ToolFailedError
from tests.exported_models import model, node, value
from tests.oms import Device
from tests.sshd import running_sshd

SHAPE = (1, 3, 5, 7)
GENERATOR = np.random.default_rng(8)
FED = {"x": GENERATOR.standard_normal(SHAPE).astype(np.float32)}
WEIGHTS = GENERATOR.standard_normal((20, 3, 3, 3)).astype(np.float32)


def net() -> onnx.ModelProto:
    """Conv and Relu become one operator on the device; 20 channels fill no 16."""
    nodes = [
        node("Conv", ["x", "w"], ["c"], name="/up/conv.0", pads=[1, 1, 1, 1]),
        node("Relu", ["c"], ["r"], name="/up/relu"),
        node("ReduceMean", ["r"], ["m"], name="mean", axes=[2, 3], keepdims=0),
        node("ArgMax", ["m"], ["i"], name="pick", axis=1, keepdims=0),
        node("Neg", ["m"], ["y"], name="neg"),
    ]
    outputs = [value("y", [1, 20]), onnx.helper.make_tensor_value_info("i", 7, [1])]
    weights = onnx.numpy_helper.from_array(WEIGHTS, "w")
    return model(nodes, [value("x", SHAPE)], outputs, [weights])


ODD = ("up/\u5377 \u79ef.0", "-re lu\u00e9", "$(x) 'mean", '"pick" *', "neg;\\ a")
"""Names of its nodes that a shell, or sftp, would take for something else."""


def right() -> dict[str, np.ndarray]:
    """Return every tensor as onnxruntime has it."""
    proto = net()
    proto.graph.output.extend(onnx.ValueInfoProto(name=name) for name in "crm")
    session = onnxruntime.InferenceSession(proto.SerializeToString())
    names = [each.name for each in proto.graph.output]
    return dict(zip(names, session.run(names, FED), strict=True))


@pytest.fixture
def device(tmp_path: Path) -> Device:
    return Device(tmp_path)


@pytest.fixture
def om(device: Device) -> Path:
    return device.built(net(), {"x": list(SHAPE)})


def left_behind(device: Device) -> list[str]:
    temporary = Path(str(device.folder)).parent
    return [each.name for each in temporary.rglob("ascendflow-infer-*")]


def assert_all_are_right(found: dict[str, np.ndarray]) -> None:
    expected = right()
    assert sorted(found) == ["i", "m", "r", "y"]  # c is fused away
    np.testing.assert_array_equal(found["i"], expected["i"])
    np.testing.assert_array_equal(found["y"], expected["y"])
    for name in "rm":  # as the device keeps them
        np.testing.assert_array_equal(found[name], expected[name].astype(np.float16))


@pytest.mark.parametrize("api", ["ais_bench", "pyacl"])
def test_every_tensor_comes_by_its_onnx_name_in_its_onnx_layout(
    device: Device, om: Path, api: str
) -> None:
    warned: list[str] = []

    assert_all_are_right(device.dump(om, FED, warned, api=api))

    assert warned == []
    assert left_behind(device) == []


def test_the_same_comes_from_a_board_and_nothing_stays_there(
    device: Device, om: Path, tmp_path: Path
) -> None:
    warned: list[str] = []
    with running_sshd(tmp_path / "ssh") as sshd:
        there = {"host": sshd.host, "ssh_config": str(sshd.config)}

        assert_all_are_right(device.dump(om, FED, warned, **there))

        device.says(dump="truncated")
        with pytest.raises(StageError, match="its tensors have"):
            device.dump(om, FED, warned, **there)
        with pytest.raises(StageError, match=r"compare\.dump_gb allows 1000 bytes"):
            device.dump(om, FED, warned, dump_gb=1e-6, **there)
        assert not (sshd.home / ".ascendflow").exists()
    assert warned == []


@pytest.mark.parametrize("spaces", [{}, {"dump": "spaces"}])
def test_names_of_operators_may_be_odd(
    device: Device, tmp_path: Path, spaces: dict[str, str]
) -> None:
    proto = net()
    for each, name in zip(proto.graph.node, ODD, strict=True):
        each.name = name
    om = device.built(proto, {"x": list(SHAPE)})
    device.says(**spaces)
    warned: list[str] = []

    assert_all_are_right(device.dump(om, FED, warned))
    with running_sshd(tmp_path / "ssh") as sshd:
        there = {"host": sshd.host, "ssh_config": str(sshd.config)}
        assert_all_are_right(device.dump(om, FED, warned, **there))

    assert warned == []


def test_failure_of_the_run_that_is_dumped_names_the_stage(
    device: Device, om: Path, tmp_path: Path
) -> None:
    device.says(dies_at=0)
    with pytest.raises(
        ToolFailedError, match=r"^compare: the worker was killed by SIGSEGV"
    ):
        device.dump(om, FED, [])
    closed = tmp_path / "closed"
    closed.write_text("Host *\n  HostName 127.0.0.1\n  Port 1\n")
    with pytest.raises(
        ToolFailedError, match=r"^compare: no connection to root@board: ssh"
    ):
        device.dump(om, FED, [], host="root@board", ssh_config=str(closed))
    device.says(soc="Ascend310B1")
    with pytest.raises(StageError, match=r"^compare: the OM is built for Ascend310P3"):
        device.dump(om, FED, [])


def test_dump_that_is_not_whole_is_refused(device: Device, om: Path) -> None:
    device.says(dump="truncated")
    with pytest.raises(StageError) as raised:
        device.dump(om, FED, [])
    told = raised.value.message
    assert told.startswith("compare: the device's dump: Conv2D._up_conv_0_up_relu.1.3.17")
    assert "its tensors have" in told
    assert "dump again" in str(raised.value.hint)
    assert left_behind(device) == []


def test_dump_that_never_came_is_refused_with_what_was_asked(
    device: Device, om: Path
) -> None:
    device.says(dump="nothing")
    with pytest.raises(StageError, match="nothing was dumped; acl was asked by") as raised:
        device.dump(om, FED, [])
    asked = json.loads(raised.value.message.partition("asked by ")[2])["dump"]
    assert asked["dump_list"] == [{"model_name": "model"}]
    assert (asked["dump_mode"], asked["dump_op_switch"]) == ("output", "off")
    assert asked["dump_path"].endswith("/dump")


def test_dump_that_is_too_large_is_not_kept(device: Device, om: Path) -> None:
    with pytest.raises(StageError, match=r"bytes in 5 files, compare\.dump_gb allows 1000"):
        device.dump(om, FED, [], dump_gb=1e-6)


def test_operator_that_left_no_dump_is_told(device: Device, om: Path) -> None:
    device.says(dump="missing")
    warned: list[str] = []

    found = device.dump(om, FED, warned)

    assert sorted(found) == ["i", "m", "y"]
    (text,) = warned
    assert "1 operators on the device left no dump" in text
    assert "'/up/conv.0/up/relu' (Conv2D)" in text


def test_folder_of_another_graph_is_told_and_the_rest_is_compared(
    device: Device, om: Path
) -> None:
    device.says(dump="another graph")
    warned: list[str] = []

    assert_all_are_right(device.dump(om, FED, warned))

    (told,) = warned
    assert told == (
        "compare: the device's dump: 1 dumps are of operators that the OM has not: "
        "stranger; they are not compared"
    )


def test_nan_of_the_device_is_given_as_it_is(device: Device, om: Path) -> None:
    device.says(dump="nan")
    found = device.dump(om, FED, [])
    assert np.isnan(found["r"]).all()
    assert np.isfinite(found["y"]).all()


def test_outputs_are_those_of_the_run_that_was_dumped(device: Device, om: Path) -> None:
    device.says(dump="changes outputs")
    found = device.dump(om, FED, [])
    np.testing.assert_array_equal(found["y"], right()["y"] + np.float32(0.5))


def test_run_without_a_dump_asks_for_none(device: Device, om: Path) -> None:
    device.says(dump="changes outputs")
    (found,) = device.run(om, FED)
    np.testing.assert_array_equal(found["y"], right()["y"])


def test_gear_is_dumped_as_well(device: Device) -> None:
    nodes = [
        node("Neg", ["x"], ["n"], name="neg"),
        node("Abs", ["n"], ["y"], name="abs"),
    ]
    proto = model(nodes, [value("x", ["n", 4])], [value("y", ["n", 4])])
    gears = {"dynamic_batch_size": [1, 3], "input_shape": {"x": [-1, 4]}}
    om = device.built(proto, {"x": [3, 4]}, **gears)
    fed = GENERATOR.standard_normal((3, 4)).astype(np.float32)
    for api in ("ais_bench", "pyacl"):
        found = device.dump(om, {"x": fed}, [], api=api)
        np.testing.assert_array_equal(found["n"], -fed.astype(np.float16))


def test_fetch_that_breaks_off_is_gone_on_with(
    device: Device, om: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The connection breaks when half of a dumped file has come.
    real, log = shutil.which("sftp"), tmp_path / "batches"
    script = f"""#!/bin/sh
for a; do case "$a" in */batch)
  cat "$a" >>{log}
  if grep -q "^get .*dump-0 dump-0" "$a" && ! [ -e {tmp_path}/broke ]; then
    {real} "$@" && truncate -s 40 dump-1 && touch {tmp_path}/broke; exit 255
  fi;;
esac; done
exec {real} "$@"
"""
    (tmp_path / "wrap").mkdir()
    wrapper = tmp_path / "wrap" / "sftp"
    wrapper.write_text(script)
    wrapper.chmod(0o755)
    monkeypatch.setenv("PATH", str(wrapper.parent), prepend=":")
    with running_sshd(tmp_path / "ssh") as sshd:
        there = {"host": sshd.host, "ssh_config": str(sshd.config)}
        assert_all_are_right(device.dump(om, FED, [], **there))
    fetched = [line for line in log.read_text().splitlines() if " dump-1" in line]
    assert [line.split()[0] for line in fetched] == ["get", "reget"]
