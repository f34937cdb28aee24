from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

torch = pytest.importorskip("torch")

if TYPE_CHECKING:
    from collections.abc import Callable


def test_logits_have_the_size_of_the_image(pan: Callable[[str], Any]) -> None:
    logits = pan("model").build(classes=3)(torch.zeros(1, 3, 64, 128))["logits"]
    assert tuple(logits.shape) == (1, 3, 64, 128)


def test_folding_batch_norm_leaves_the_results(pan: Callable[[str], Any]) -> None:
    torch.manual_seed(0)
    network = pan("model").PyramidAttentionNetwork(5)
    image = torch.randn(2, 3, 64, 64)
    network(image)  # moves the running statistics off their start
    before = network.eval()(image)["logits"]
    after = pan("model").fold(network)(image)["logits"]
    assert not [m for m in network.modules() if isinstance(m, torch.nn.BatchNorm2d)]
    assert torch.allclose(before, after, atol=1e-5)


def test_doubling_samples_between_pixel_centres(pan: Callable[[str], Any]) -> None:
    row = torch.tensor([0.0, 4.0, 8.0]).reshape(1, 1, 1, 3)
    # half-pixel: positions -0.25 (held at 0), 0.25, 0.75, 1.25, 1.75, 2.25 (held at 2)
    assert pan("model").double(row)[0, 0, 0].tolist() == [0.0, 1.0, 3.0, 5.0, 7.0, 8.0]


def test_whole_mean_is_the_mean(pan: Callable[[str], Any]) -> None:
    features = torch.randn(2, 3, 8, 12)
    mean = pan("model").whole_mean(features)
    assert torch.allclose(mean, features.mean(dim=(2, 3), keepdim=True), atol=1e-6)


def test_the_shipped_weights_fit(pan: Callable[[str], Any]) -> None:
    weights = pan("photos").FOLDER.parent / "weights.pt"
    state = torch.load(weights, weights_only=True)
    pan("model").build().load_state_dict(state)
    assert {tensor.dtype for tensor in state.values()} == {torch.float32}
    assert weights.stat().st_size < 4_000_000
