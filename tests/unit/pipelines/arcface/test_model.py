from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

if TYPE_CHECKING:
    from collections.abc import Callable

UNIT = ["BatchNorm2d", "Conv2d", "BatchNorm2d", "PReLU", "Conv2d", "BatchNorm2d"]
HEAD = ["BatchNorm2d", "Dropout", "Flatten", "Linear", "BatchNorm1d"]


def kinds(modules: Any) -> list[str]:
    return [type(module).__name__ for module in modules]


@pytest.fixture
def small(arcface: Callable[[str], Any]) -> Any:
    """A network of the same form: one unit in each of two stages, in eval mode."""
    model = arcface("model")
    network = model.IResNet(depths=(1, 2), widths=(4, 6), embedding=8).eval()
    arcface("seeded").draw_weights(network, 3)
    return network


@pytest.fixture
def images() -> Any:
    return torch.from_numpy(
        np.random.default_rng(0).uniform(-1, 1, (5, 3, 112, 112))
    ).float()


def test_it_is_an_iresnet_of_18_layers(arcface: Callable[[str], Any]) -> None:
    network = arcface("model").IResNet()
    units = [each for stage in network.stages for each in stage]
    with_weights = [
        m for unit in units for m in unit.body if isinstance(m, torch.nn.Conv2d)
    ]

    assert len(with_weights) + 2 == 18  # stem and the fully connected layer
    assert all(kinds(unit.body) == UNIT for unit in units)
    assert kinds(network.head) == HEAD
    assert network.stem[0].stride == (1, 1)
    for stage in network.stages:
        shortened, *rest = stage
        assert kinds(shortened.shortcut) == ["Conv2d", "BatchNorm2d"]
        assert shortened.body[4].stride == shortened.shortcut[0].stride == (2, 2)
        assert kinds(unit.shortcut for unit in rest) == ["Identity"] * len(rest)


def test_a_unit_is_its_body_plus_its_shortcut(arcface: Callable[[str], Any]) -> None:
    torch.manual_seed(0)
    unit = arcface("model").Unit(4, 4).eval()
    features = torch.randn(2, 4, 8, 8)
    with torch.no_grad():
        assert torch.equal(unit(features), unit.body(features) + features)


def test_every_embedding_has_length_one(small: Any, images: Any) -> None:
    with torch.no_grad():
        embedding = small(images)["embedding"]

    assert tuple(embedding.shape) == (5, 8)
    np.testing.assert_allclose((embedding.double() ** 2).sum(1), 1, rtol=1e-6)


def test_the_shipped_network_gives_512_numbers_of_length_one(
    arcface: Callable[[str], Any],
) -> None:
    with torch.no_grad():
        network = arcface("model").build()
        embedding = network(torch.from_numpy(arcface("data").images()[:2]))["embedding"]

    assert not network.training
    assert tuple(embedding.shape) == (2, 512)
    np.testing.assert_allclose((embedding.double() ** 2).sum(1), 1, rtol=1e-6)


def test_statistics_equal_those_numpy_takes_of_what_each_layer_gets(
    arcface: Callable[[str], Any], small: Any, images: Any
) -> None:
    arcface("seeded").calibrate(small, images)
    seen: dict[Any, np.ndarray] = {}
    for layer in small.modules():
        if "BatchNorm" in type(layer).__name__:
            layer.register_forward_hook(
                lambda layer, inputs, _: seen.update({layer: inputs[0].numpy()})
            )
    with torch.no_grad():
        small.double()(images.double())

    assert len(seen) == 14
    for layer, features in seen.items():
        axes = tuple(axis for axis in range(features.ndim) if axis != 1)
        # Kept to 12 significant bits: at most 2 ** -13 of the number itself, twice where
        # the input differs for statistics before it having been rounded to float32.
        np.testing.assert_allclose(
            layer.running_mean, features.mean(axes), rtol=2**-12, atol=1e-6
        )
        np.testing.assert_allclose(layer.running_var, features.var(axes), rtol=2**-12)


def test_calibration_leaves_no_hook_and_no_float64(
    arcface: Callable[[str], Any], small: Any, images: Any
) -> None:
    arcface("seeded").calibrate(small, images)
    before = small.stem[1].running_mean.clone()
    small(-images)

    assert torch.equal(small.stem[1].running_mean, before)
    assert {tensor.dtype for tensor in small.parameters()} == {torch.float32}


def test_statistics_do_not_depend_on_the_order_of_summation(
    arcface: Callable[[str], Any], images: Any
) -> None:
    """A difference of 1e-12, a thousand times what another order makes, changes no bit."""
    states = []
    for noise in (0, 1e-12):
        network = arcface("model").IResNet(depths=(1, 1), widths=(4, 6), embedding=8).eval()
        arcface("seeded").draw_weights(network, 3)
        arcface("seeded").calibrate(network, images.double() * (1 + noise))
        states.append(network.state_dict())

    assert all(torch.equal(states[0][name], states[1][name]) for name in states[0])


@pytest.mark.parametrize("value", [0.0, 1.0, -3.0, 1 / 3, 2.0**-40, -1e30])
def test_rounding_keeps_twelve_significant_bits(
    arcface: Callable[[str], Any], value: float
) -> None:
    (rounded,) = (
        arcface("seeded")._rounded(torch.tensor([value], dtype=torch.float64)).tolist()
    )
    mantissa, _ = np.frexp(rounded)

    assert (mantissa * 2**12).is_integer()
    assert abs(rounded - value) <= 2**-12 * abs(value)


def test_weights_are_uniform_with_the_deviation_that_is_named(
    arcface: Callable[[str], Any],
) -> None:
    seeded = arcface("seeded")
    layer = torch.nn.Conv2d(64, 64, 3)
    seeded.draw_weights(layer, 0)
    weights = layer.weight.detach().double().numpy().ravel()
    bound = seeded.CONVOLUTION_DEVIATION * 3**0.5

    # 36,864 draws: the deviation of the sample's own is 0.2 % of it
    assert weights.std() == pytest.approx(seeded.CONVOLUTION_DEVIATION, rel=0.02)
    assert abs(weights.mean()) < 0.02 * bound
    assert 0.99 * bound < np.abs(weights).max() <= np.float32(bound)


def test_the_first_weights_are_pcg64s_published_stream(
    arcface: Callable[[str], Any],
) -> None:
    layer = torch.nn.Linear(1, 2)
    arcface("seeded").draw_weights(layer, 0)
    # default_rng(0).random() is 0.6369616873214543, 0.2697867137638703 (numpy's manual)
    expected = (2 * np.array([0.6369616873214543, 0.2697867137638703]) - 1) * 3**0.5

    np.testing.assert_allclose(layer.weight.detach().numpy().ravel(), expected, atol=1e-6)
    assert layer.bias.tolist() == [0.0, 0.0]


def test_another_seed_gives_other_weights_and_the_same_seed_the_same(
    arcface: Callable[[str], Any],
) -> None:
    one, same, other = (
        arcface("model").build(seed=seed, calibrated=False) for seed in (1, 1, 2)
    )

    assert torch.equal(one.head[3].weight, same.head[3].weight)
    assert not torch.equal(one.head[3].weight, other.head[3].weight)


def test_without_calibration_activations_leave_the_range_of_float16(
    arcface: Callable[[str], Any],
) -> None:
    images = torch.from_numpy(arcface("data").images()[:2])
    largest = {}
    with torch.no_grad():
        for calibrated in (True, False):
            network = arcface("model").build(calibrated=calibrated)
            features = network.stages(network.stem(images))
            largest[calibrated] = features.abs().max().item()

    assert largest[True] < 100
    assert largest[False] > 65504  # IEEE 754's largest binary16
