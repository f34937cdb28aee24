from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="needs PyTorch (the extra [torch])")

from ascendflow.pytorch.model import training_part  # noqa: E402


def test_leaf_in_training_mode_is_named_before_what_holds_it() -> None:
    nn = torch.nn
    model = nn.Sequential(nn.ReLU(), nn.Sequential(nn.Dropout())).eval()
    assert training_part(model) is None

    model[1].train()
    assert training_part(model) == "'1.0' (Dropout)"

    model[1][0].eval()
    assert training_part(model) == "'1' (Sequential)"


def test_model_of_one_module_is_named_by_its_class() -> None:
    assert training_part(torch.nn.Dropout()) == "Dropout"
