"""pyACL's calls, one by one: their order, their codes, and what is given back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from ascendflow.errors import StageError
from tests.exported_models import model, node, value
from tests.oms import Device

if TYPE_CHECKING:
    from pathlib import Path

FED = {"x": np.array([[-1, 2, -3, 4]], np.float32)}
ORDER = [
    *("init", "rt.set_device", "rt.create_context", "mdl.load_from_file", "mdl.get_desc"),
    *("rt.malloc", "rt.memcpy", "create_data_buffer", "mdl.add_dataset_buffer"),
    *("rt.malloc", "rt.memset", "create_data_buffer", "mdl.add_dataset_buffer"),
    *("mdl.execute", "rt.malloc_host", "rt.memcpy", "rt.free_host"),
    *("destroy_data_buffer", "rt.free", "destroy_data_buffer", "rt.free"),
    *("mdl.destroy_dataset", "mdl.destroy_dataset"),
    *("mdl.destroy_desc", "mdl.unload", "rt.destroy_context", "rt.reset_device"),
    "finalize",
]
"""As the runtime's documents have it; that the last call succeeds means that nothing is
left: the stand-in counts."""


@pytest.fixture
def device(tmp_path: Path) -> Device:
    return Device(tmp_path)


@pytest.fixture
def om(device: Device) -> Path:
    nodes = [node("Relu", ["x"], ["y"], name="act")]
    proto = model(nodes, [value("x", [1, 4])], [value("y", [1, 4])])
    return device.built(proto, {"x": [1, 4]})


def calls(device: Device) -> list[str]:
    return (device.toolkit / "acl.trace").read_text().split()


def test_pyacl_is_called_in_the_order_of_its_documents(device: Device, om: Path) -> None:
    (found,) = device.run(om, FED, api="pyacl")
    assert found["y"].tolist() == [[0, 2, 0, 4]]
    assert calls(device) == ORDER


@pytest.mark.parametrize("call", sorted(set(ORDER) - {"create_data_buffer", "finalize"}))
def test_every_code_is_looked_at_and_all_is_given_back(
    device: Device, om: Path, call: str
) -> None:
    device.says(acl_fails={call: 507011})
    with pytest.raises(StageError, match=rf"acl\.{call} gave 507011: an inner error"):
        device.run(om, FED, api="pyacl")
    made = calls(device)
    assert made.count("rt.malloc") - (call == "rt.malloc") == made.count("rt.free")
    assert made.count("finalize") == (call != "init")


def test_codes_are_explained(device: Device, om: Path) -> None:
    with pytest.raises(StageError, match="set_device gave 107001: no such device"):
        device.run(om, FED, api="pyacl", device=5)
    device.says(acl_fails={"rt.malloc": 207001})
    with pytest.raises(StageError, match="207001: no memory on the device"):
        device.run(om, FED, api="pyacl")


def test_output_that_the_device_does_not_write_is_nan(device: Device, om: Path) -> None:
    device.says(empty=True)
    (found,) = device.run(om, FED, api="pyacl")
    assert np.isnan(found["y"]).all()


def test_feeds_are_held_to_the_om_here_too(device: Device, om: Path) -> None:
    with pytest.raises(StageError, match="'x' is float32 in the OM, fed is float64"):
        device.run(om, {"x": FED["x"].astype(np.float64)}, api="pyacl")


@pytest.fixture
def open_om(device: Device) -> Path:
    nodes = [node("Relu", ["x"], ["y"], name="act")]
    proto = model(nodes, [value("x", ["n", 4])], [value("y", ["n", 4])])
    shape = {"dynamic_shape": True, "input_shape": {"x": [-1, 4]}}
    return device.built(proto, {"x": [1, 4]}, **shape)


@pytest.mark.parametrize("call", ["mdl.set_dataset_tensor_desc", "get_tensor_desc_dim_v2"])
def test_memory_that_the_runtime_took_for_an_open_output_is_given_back(
    device: Device, open_om: Path, call: str
) -> None:
    # The stand-in's last call counts what is left.
    (found,) = device.run(open_om, FED, api="pyacl")
    assert found["y"].tolist() == [[0, 2, 0, 4]]
    made = calls(device)
    assert made.count("rt.free") == made.count("rt.malloc") + 1
    device.says(acl_fails={call: 100000})
    with pytest.raises(StageError, match=rf"acl\.{call} gave 100000: a bad parameter"):
        device.run(open_om, FED, api="pyacl")
    assert calls(device)[-1] == "finalize"


def test_open_output_of_no_bytes_or_no_known_shape(device: Device, open_om: Path) -> None:
    none = {"x": np.zeros((0, 4), np.float32)}
    (found,) = device.run(open_om, none, api="pyacl")
    assert found["y"].shape == (0, 4)
    device.says(acl_fails={"create_tensor_desc": 200000})
    with pytest.raises(StageError, match=r"acl\.create_tensor_desc gave nothing"):
        device.run(open_om, FED, api="pyacl")
    device.says(untold=True)
    with pytest.raises(StageError, match="the shape of output 'act:0:y' is not told"):
        device.run(open_om, FED, api="pyacl")
