from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from ascendflow.errors import StageError

if TYPE_CHECKING:
    from pathlib import Path

torch = pytest.importorskip("torch", reason="needs PyTorch (the extra [torch])")
from ascendflow.pytorch.safetensors import read_safetensors  # noqa: E402
from ascendflow.pytorch.weights import load_weights  # noqa: E402


def net() -> Any:
    return torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3))


def refusal(
    path: Path, key: str | None = None, strip_prefix: str | None = None
) -> StageError:
    with pytest.raises(StageError) as caught:
        load_weights(net(), path, key=key, strip_prefix=strip_prefix)
    return caught.value


def save_safetensors(path: Path, header: Any, data: bytes) -> None:
    """Write the format by its description: length, JSON, data."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)


def test_state_dict_fills_parameters_and_buffers(tmp_path: Path) -> None:
    trained, fresh = net(), net()
    trained[1].running_mean += 5
    torch.save(trained.state_dict(), tmp_path / "w.pt")
    load_weights(fresh, tmp_path / "w.pt", key=None, strip_prefix=None)

    for name, tensor in trained.state_dict().items():
        assert torch.equal(fresh.state_dict()[name], tensor)


def test_key_and_prefix_lead_to_the_state_dict(tmp_path: Path) -> None:
    trained, fresh = net(), net()
    state = {f"module.{name}": tensor for name, tensor in trained.state_dict().items()}
    torch.save({"epoch": 3, "state_dict": state}, tmp_path / "w.pt")
    load_weights(fresh, tmp_path / "w.pt", key="state_dict", strip_prefix="module.")

    assert torch.equal(fresh[0].weight, trained[0].weight)


def test_pickled_class_is_refused_by_name_with_the_way_out(tmp_path: Path) -> None:
    torch.save(net(), tmp_path / "w.pt")
    error = refusal(tmp_path / "w.pt")

    assert "an object of class torch.nn.modules.container.Sequential" in error.message
    assert error.hint is not None
    assert "torch.save(model.state_dict()" in error.hint


def test_pickle_that_would_run_code_runs_none(tmp_path: Path) -> None:
    marker = tmp_path / "ran"

    class Evil:
        def __reduce__(self) -> Any:
            return marker.touch, ()

    torch.save({"w": Evil()}, tmp_path / "w.pt")
    refusal(tmp_path / "w.pt")

    assert not marker.exists()


def test_missing_and_unexpected_keys_are_listed_with_totals(tmp_path: Path) -> None:
    state = {f"head.{number}": torch.zeros(1) for number in range(9)}
    torch.save(state, tmp_path / "w.pt")
    message = refusal(tmp_path / "w.pt").message

    assert (
        "7 missing: 0.weight, 0.bias, 1.weight, 1.bias, 1.running_mean, ... (7 in"
        in message
    )
    assert "9 unexpected: head.0, head.1, head.2, head.3, head.4, ... (9 in all)" in message


def test_prefix_that_would_fit_is_suggested(tmp_path: Path) -> None:
    state = {f"module.{name}": tensor for name, tensor in net().state_dict().items()}
    torch.save(state, tmp_path / "w.pt")

    assert (
        refusal(tmp_path / "w.pt").hint == "the keys would fit with strip_prefix: 'module.'"
    )


def test_other_shape_is_refused_with_both(tmp_path: Path) -> None:
    state = {**net().state_dict(), "0.weight": torch.zeros(4, 2)}
    torch.save(state, tmp_path / "w.pt")

    assert (
        "1 of another shape: 0.weight [4, 2] for [3, 2]"
        in refusal(tmp_path / "w.pt").message
    )


def test_prefix_that_no_key_has_is_refused(tmp_path: Path) -> None:
    torch.save(net().state_dict(), tmp_path / "w.pt")
    error = refusal(tmp_path / "w.pt", strip_prefix="module.")

    assert "no key begins with strip_prefix 'module.'" in error.message


@pytest.mark.parametrize(
    ("saved", "key", "said"),
    [
        pytest.param({"model": {}}, "state_dict", "has no key 'state_dict'", id="no-key"),
        pytest.param({"model": 3}, None, "is not a state dict of tensors", id="numbers"),
        pytest.param([1], None, "is not a state dict of tensors", id="list"),
        pytest.param({"m": {}}, "m", "'m' is not a state dict of tensors", id="empty"),
    ],
)
def test_file_without_a_state_dict_is_refused(
    saved: object, key: str | None, said: str, tmp_path: Path
) -> None:
    torch.save(saved, tmp_path / "w.pt")

    assert said in refusal(tmp_path / "w.pt", key=key).message


def test_safetensors_are_read_by_dtype_shape_and_place(tmp_path: Path) -> None:
    header = {
        "__metadata__": {"format": "pt"},
        "b": {"dtype": "BF16", "shape": [], "data_offsets": [16, 18]},
        "a": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]},
        "none": {"dtype": "I64", "shape": [0, 3], "data_offsets": [18, 18]},
    }
    data = torch.arange(4, dtype=torch.float32).numpy().tobytes() + b"\xc0\x3f"
    save_safetensors(tmp_path / "w.safetensors", header, data)
    found = read_safetensors(tmp_path / "w.safetensors")

    assert found["a"].tolist() == [[0, 1], [2, 3]]
    assert found["b"].dtype == torch.bfloat16
    assert found["b"].item() == 1.5  # 0x3FC0
    assert found["none"].shape == (0, 3)


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        pytest.param(
            {"dtype": "F32", "shape": [2], "data_offsets": [0, 4]}, "needs 8", id="len"
        ),
        pytest.param(
            {"dtype": "F32", "shape": [2], "data_offsets": [4, 12]}, "needs 8", id="end"
        ),
        pytest.param(
            {"dtype": "F32", "shape": [-1], "data_offsets": [0, 4]},
            "no natural",
            id="negative",
        ),
        pytest.param(
            {"dtype": "F8", "shape": [1], "data_offsets": [0, 1]}, "'F8'", id="dtype"
        ),
        pytest.param({"dtype": "F32", "shape": [1]}, "no proper dtype", id="key"),
        pytest.param(7, "no proper dtype", id="entry"),
    ],
)
def test_safetensors_entry_that_does_not_add_up_is_refused(
    entry: object, said: str, tmp_path: Path
) -> None:
    save_safetensors(tmp_path / "w.safetensors", {"a": entry}, bytes(8))
    with pytest.raises(StageError, match=said):
        read_safetensors(tmp_path / "w.safetensors")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        pytest.param(b"short", "was cut short", id="short"),
        pytest.param((2**40).to_bytes(8, "little"), "was cut short", id="long-header"),
        pytest.param((2).to_bytes(8, "little") + b"{[", "is not JSON", id="no-json"),
        pytest.param((2).to_bytes(8, "little") + b"[]", "not a JSON object", id="list"),
    ],
)
def test_file_that_is_no_safetensors_is_refused(
    content: bytes, said: str, tmp_path: Path
) -> None:
    (tmp_path / "w.safetensors").write_bytes(content)
    with pytest.raises(StageError, match=said):
        read_safetensors(tmp_path / "w.safetensors")
