"""PyTorch through export, golden and simplify: the way most models come in."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest

from ascendflow.errors import StageError
from ascendflow.graph.io_spec import opset_of
from ascendflow.graph.opset import convert_opset
from ascendflow.graph.run import OnnxModel
from ascendflow.stages import export as export_stage
from ascendflow.stages import golden as golden_stage
from ascendflow.tensors import TensorSet, TensorSpec
from tests.stage_runs import Pipeline, pipeline

if TYPE_CHECKING:
    from collections.abc import Iterator

torch = pytest.importorskip("torch", reason="needs PyTorch (the extra [torch])")

MODEL = '''
import torch


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(4, 4, 3, padding=1)
        self.norm = torch.nn.BatchNorm2d(4)

    def forward(self, x):
        return torch.relu(self.norm(self.conv(x))) + x


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = torch.nn.Conv2d(3, 4, 3, padding=1)
        self.blocks = torch.nn.Sequential(Block(), Block())
        self.up = torch.nn.Upsample(scale_factor=2, mode="bilinear")
        self.drop = torch.nn.Dropout()

    def forward(self, image, mask=None, scale=1.0):
        y = self.drop(self.up(self.blocks(self.stem(image)))) * scale
        return {"classes": y.argmax(1), "rest": (y, None, y.mean())}


class Noisy(torch.nn.Module):
    def forward(self, x):
        return x + torch.rand_like(x)


class Stubborn(torch.nn.Module):
    """Drops elements whatever eval() says."""

    def forward(self, x):
        return torch.nn.functional.dropout(x, 0.5, training=True)


class Pool(torch.nn.Module):
    def forward(self, x):
        return torch.nn.functional.avg_pool2d(x, 3, 2, 1, ceil_mode=True)


class Norm(torch.nn.Module):
    def forward(self, x):
        return torch.nn.functional.layer_norm(x, (3,))


class Swapped(torch.nn.Module):
    def forward(self, b, a):
        return b - 2 * a


class Drifting(torch.nn.Module):
    """Computes something else once it has been exported."""

    def forward(self, x):
        return x * 1.5 if torch.compiler.is_exporting() else x


class Branching(torch.nn.Module):
    def forward(self, x):
        if x.mean() > 0.5:
            return x * 2
        return x[:, : int(x.max())]


class Relapsing(torch.nn.Module):
    """Goes back to training once it has been exported."""

    def __init__(self):
        super().__init__()
        self.parts = torch.nn.Sequential(torch.nn.Dropout(0.5))

    def forward(self, x):
        if not torch.compiler.is_exporting():
            self.parts.train()
        self.parts[0].p = 0.0 if torch.compiler.is_exporting() else 0.9
        return self.parts(x)


class Untold(torch.nn.Module):
    def forward(self, x):
        return torch.linalg.svd(x)[1]


class Attention(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = torch.nn.MultiheadAttention(4, 2, batch_first=True)

    def forward(self, x):
        first, second = x.chunk(2, dim=1)
        return self.heads(first, second, second, need_weights=False)[0]


class Open(torch.nn.Module):
    """Computes with the sizes of what it is given."""

    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 4, 3, stride=2, padding=1)

    def forward(self, x, skipped=None, y=0.0):
        z = torch.nn.functional.interpolate(self.conv(x), scale_factor=2.0)
        z = z.reshape(x.shape[0], 4, -1)
        return z.mean(-1) * x.shape[3] + y


class Nameless(torch.nn.Module):
    def forward(self, *given):
        return given[0] + given[1].sum()


class Frozen(torch.nn.Module):
    def forward(self, x):
        return x / int(x.shape[0])


class Narrow(torch.nn.Module):
    """Works for one size alone."""

    def forward(self, x):
        return x + torch.ones(2, 3)


class Words(torch.nn.Module):
    """Knows the words 500 to 999 alone."""

    def __init__(self):
        super().__init__()
        self.table = torch.nn.Embedding(500, 2)

    def forward(self, ids):
        return self.table(ids - 500)


def build(kind="Net"):
    return globals()[kind]()


def no_module():
    return {}
'''
IMAGE = TensorSpec("image", "float32", (1, 3, 8, 8))
SCALE = TensorSpec("scale", "float32", ())
X = TensorSpec("x", "float32", (2, 3))
OPSET = 15


@pytest.fixture(autouse=True)
def forget_user_modules(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "netmodel", raising=False)
    yield
    torch.use_deterministic_algorithms(mode=False)


def project(tmp_path: Path, *specs: TensorSpec) -> Pipeline:
    made = pipeline(tmp_path, list(specs))
    (made.folder / "netmodel.py").write_text(MODEL)
    return made


def source(kind: str = "Net", factory: str = "build") -> dict[str, Any]:
    arguments = {"kind": kind} if factory == "build" else {}
    return {
        "module": "netmodel.py",
        "factory": factory,
        "arguments": arguments,
        "weights": None,
    }


def export(
    made: Pipeline,
    kind: str = "Net",
    *,
    exporter: str = "dynamo",
    opset: int = OPSET,
    **more: Any,
) -> Any:
    config: dict[str, Any] = {
        "torch": source(kind),
        "onnx": False,
        "exporter": exporter,
        "opset": opset,
        **more,
    }
    return made.run("export", **config)


def feeds(seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    image = rng.random(IMAGE.shape, dtype=np.float32)
    return {"scale": np.array(seed + 1, np.float32), "image": image}


@pytest.mark.parametrize("exporter", ["dynamo", "torchscript"])
def test_torch_model_reaches_a_simplified_onnx_model(exporter: str, tmp_path: Path) -> None:
    # The manifest lists the inputs in another order than forward() takes them.
    made = project(tmp_path, SCALE, IMAGE)
    made.sample(feeds(0), feeds(1))
    export(made, exporter=exporter)
    made.golden(torch=source())
    made.simplify()
    written = onnx.load(made.made("exported") / "model.onnx")
    nodes = json.loads(made.made("nodes.json").read_text())["nodes"]
    golden = json.loads(made.made("golden.json").read_text())
    sets = [TensorSet(made.made("golden") / kind) for kind in ("torch", "onnx")]

    assert opset_of(written) == OPSET
    assert [i.name for i in written.graph.input] == ["image", "scale"]
    assert [o.name for o in written.graph.output] == ["classes", "rest.0", "rest.2"]
    assert {"blocks.1", "up"} <= {
        origin["module"].removesuffix(".norm") for origin in nodes.values()
    }
    assert "netmodel.py:12" in {origin["source"] for origin in nodes.values()}
    assert golden["has_torch"] is True
    assert golden["torch_onnx"]["classes"]["mismatch_rate"] == 0
    assert golden["torch_onnx"]["rest.0"]["relative"] < 1e-5
    assert sets[0].ids == sets[1].ids
    assert sets[0].specs(1) == sets[1].specs(1)
    assert sets[0].load(0, "rest.2").shape == ()


@pytest.mark.parametrize("exporter", ["dynamo", "torchscript"])
def test_attention_and_equal_chunks_come_through(exporter: str, tmp_path: Path) -> None:
    x = TensorSpec("x", "float32", (1, 6, 4))
    made = project(tmp_path, x)
    made.sample({"x": np.random.default_rng(0).standard_normal(x.shape, np.float32)})
    export(made, "Attention", exporter=exporter)
    made.golden(torch=source("Attention"))
    golden = json.loads(made.made("golden.json").read_text())

    assert golden["torch_onnx"]["output"]["relative"] < 1e-5
    assert torch.backends.mha.get_fastpath_enabled()  # as the user's process has it


def test_no_path_of_this_machine_is_in_any_artifact(tmp_path: Path) -> None:
    made = project(tmp_path, IMAGE, SCALE)
    export(made)
    content = b"".join(
        path.read_bytes() for path in (made.build / "export").rglob("*") if path.is_file()
    )

    assert str(tmp_path).encode() not in content
    assert b"site-packages" not in content


def test_average_pool_of_torch_and_onnx_agree_on_a_window_in_the_padding(
    tmp_path: Path,
) -> None:
    """OP01."""
    x = TensorSpec("x", "float32", (1, 1, 4, 4))
    made = project(tmp_path, x)
    made.sample({"x": np.arange(1, 17, dtype=np.float32).reshape(x.shape)})
    export(made, "Pool")
    made.golden(torch=source("Pool"))

    # torch's rule, from the case's table: sums over the window inside the padded input.
    expected = [1.5556, 3.3333, 2, 6.3333, 11, 6, 4.5, 7.5, 4]
    found = TensorSet(made.made("golden") / "torch").load(0, "output")
    np.testing.assert_allclose(found.ravel(), expected, atol=5e-5)


def test_export_that_computes_something_else_is_refused_with_both_numbers(
    tmp_path: Path,
) -> None:
    made = project(tmp_path, X)
    made.sample({"x": np.arange(6, dtype=np.float32).reshape(2, 3)})
    export(made, "Drifting")
    # x reaches 5, 1.5 x is 2.5 more; the range is 5.
    with pytest.raises(
        StageError, match=r"max absolute error 2.5 over a range of 5 is 0.5"
    ) as caught:
        made.golden(torch=source("Drifting"))

    assert "look for random draws" in str(caught.value.hint)


def test_part_that_went_back_to_training_is_named_where_outputs_are_far_apart(
    tmp_path: Path,
) -> None:
    made = project(tmp_path, X)
    made.sample({"x": np.arange(6, dtype=np.float32).reshape(2, 3)})
    export(made, "Relapsing")
    with pytest.raises(StageError, match="PyTorch and the exported model differ") as caught:
        made.golden(torch=source("Relapsing"))

    assert "the limit is export.max_relative_error" in str(caught.value.hint)
    assert "'parts.0' (Dropout) is in training mode" in str(caught.value.hint)


@pytest.mark.parametrize("exporter", ["dynamo", "torchscript"])
@pytest.mark.parametrize("kind", ["Noisy", "Stubborn"])
def test_model_that_draws_at_random_is_refused(
    kind: str, exporter: str, tmp_path: Path
) -> None:
    made = project(tmp_path, X)
    with pytest.raises(StageError, match=r"random|training mode") as caught:
        export(made, kind, exporter=exporter)

    if kind == "Noisy":
        assert "(RandomUniformLike): it has no golden; " in caught.value.message
        assert caught.value.message.endswith("random part out of netmodel.py:30")


def test_branch_on_values_is_refused_by_dynamo_with_line_and_cause(tmp_path: Path) -> None:
    made = project(tmp_path, X)
    with pytest.raises(StageError) as caught:
        export(made, "Branching")

    assert caught.value.message.startswith(
        "torch's dynamo exporter failed at netmodel.py:64 (forward): "
        "GuardOnDataDependentSymNode: Could not guard on data-dependent expression"
    )
    assert "torch.where or torch.cond" in str(caught.value.hint)
    assert "torchscript is no way out" in str(caught.value.hint)


@pytest.mark.parametrize(
    ("exporter", "operator"),
    [("dynamo", "aten._linalg_svd"), ("torchscript", "aten::linalg_svd")],
)
def test_operator_that_an_exporter_lacks_is_named_with_the_models_line(
    exporter: str, operator: str, tmp_path: Path
) -> None:
    """Neither exporter's error passed a line of the model's."""
    at = MODEL.splitlines().index("        return torch.linalg.svd(x)[1]") + 1
    line = f"netmodel.py:{at}"
    made = project(tmp_path, X)
    with pytest.raises(StageError) as caught:
        export(made, "Untold", exporter=exporter, opset=18)

    assert caught.value.message == (
        f"torch's {exporter} exporter failed at {line}: it has no ONNX for {operator}"
    )
    assert str(caught.value.hint).startswith(f"write {operator} in other operators")
    assert ("try export.exporter: dynamo" in str(caught.value.hint)) == (
        exporter == "torchscript"
    )
    assert "exporter: torchscript" not in str(caught.value.hint)


def test_branch_that_torchscript_freezes_is_warned_about_with_its_line(
    tmp_path: Path,
) -> None:
    made = project(tmp_path, X)
    branch, *values = export(made, "Branching", exporter="torchscript").warnings

    assert branch.startswith(
        "netmodel.py:64: the graph has only the branch that one run on random inputs took"
    )
    assert all(said.startswith("netmodel.py:66: ") for said in values)


def test_opset_that_dynamo_cannot_reach_is_refused_with_a_way_out(tmp_path: Path) -> None:
    made = project(tmp_path, X)
    with pytest.raises(StageError, match="cannot bring it to 11") as caught:
        export(made, "Norm", opset=11)

    assert "torchscript" in str(caught.value.hint)


def test_opset_move_that_changes_values_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """RS04. However little the limit of golden would mind."""

    def forgetful(model: onnx.ModelProto, opset: int) -> onnx.ModelProto:
        moved = convert_opset(model, opset)
        (resize,) = (node for node in moved.graph.node if node.op_type == "Resize")
        for attribute in resize.attribute:
            if attribute.name == "coordinate_transformation_mode":
                attribute.s = b"asymmetric"
        return moved

    monkeypatch.setattr(export_stage, "convert_opset", forgetful)
    with pytest.raises(
        StageError, match=r"from opset 18 to 15 and changed what it computes: output 'cl"
    ):
        export(project(tmp_path, IMAGE, SCALE))


class OldAveragePool:
    """Onnxruntime before it learnt torch's rule: it divides by the whole window always."""

    def __init__(self, model: OnnxModel) -> None:
        self._run = model.run

    def __call__(self, feeds: Any) -> dict[str, np.ndarray]:
        """Undo the division by what lies in the padded input, and divide by 9."""
        edge = np.array([3, 3, 2], np.float32)
        (pooled,) = self._run(feeds).items()
        return {pooled[0]: (pooled[1] * np.outer(edge, edge) / 9).astype(np.float32)}


def test_average_pool_of_an_older_runtime_is_refused_against_torch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """OP01. By the report: 2.5 off."""
    x = TensorSpec("x", "float32", (1, 1, 4, 4))
    made = project(tmp_path, x)
    made.sample({"x": np.arange(1, 17, dtype=np.float32).reshape(x.shape)})
    export(made, "Pool")

    def old(*arguments: Any, **options: Any) -> OnnxModel:
        model = OnnxModel(*arguments, **options)
        model.run = OldAveragePool(model)  # type: ignore[method-assign]
        return model

    monkeypatch.setattr(golden_stage, "OnnxModel", old)
    with pytest.raises(StageError, match=r"output 'output': max absolute error 2\.5 over"):
        made.golden(torch=source("Pool"))


def test_inputs_named_like_parameters_go_where_those_are(tmp_path: Path) -> None:
    a, b = TensorSpec("a", "float32", (1,)), TensorSpec("b", "float32", (1,))
    made = project(tmp_path, a, b)
    made.sample({"a": np.ones(1, np.float32), "b": np.full(1, 7, np.float32)})
    export(made, "Swapped")
    made.golden(torch=source("Swapped"))

    assert TensorSet(made.made("golden") / "torch").load(0, "output") == 7 - 2
    assert TensorSet(made.made("golden") / "onnx").load(0, "output") == 7 - 2


def test_inputs_of_other_names_go_by_position(tmp_path: Path) -> None:
    first, second = (
        TensorSpec("first", "float32", (1,)),
        TensorSpec("second", "float32", (1,)),
    )
    made = project(tmp_path, first, second)
    made.sample({"first": np.ones(1, np.float32), "second": np.full(1, 7, np.float32)})
    findings = export(made, "Swapped")
    made.golden(torch=source("Swapped"))

    assert TensorSet(made.made("golden") / "onnx").load(0, "output") == 1 - 2 * 7
    assert findings.warnings == [
        "inputs are taken by position: 'first' -> b, 'second' -> a"
    ]


def test_one_misspelt_input_is_refused_before_anything_is_swapped(tmp_path: Path) -> None:
    made = project(
        tmp_path, TensorSpec("a", "float32", (1,)), TensorSpec("bb", "float32", (1,))
    )
    with pytest.raises(
        StageError, match=r"forward\(b, a\) has no parameter 'bb'"
    ) as caught:
        export(made, "Swapped")

    assert caught.value.hint == "'bb': did you mean 'b'?"


def test_factory_that_returns_no_module_is_refused(tmp_path: Path) -> None:
    made = project(tmp_path, X)
    broken = source(factory="no_module")
    with pytest.raises(StageError, match=r"returned a dict, not a torch.nn.Module"):
        made.run("export", torch=broken, exporter="dynamo", opset=OPSET)


def test_forward_that_raises_is_refused_as_the_models_error(tmp_path: Path) -> None:
    made = project(tmp_path, TensorSpec("image", "float32", (1, 5, 8, 8)))
    with pytest.raises(
        StageError,
        match=r"^netmodel.py:24 \(forward\), run once on inputs drawn at random, not on "
        r"your samples \('image': numbers from \[0, 1\)\): RuntimeError",
    ) as caught:
        export(made)

    assert caught.value.hint == (
        "it was given image float32 [1, 5, 8, 8]: where the model takes another shape or "
        "dtype, change the manifest's `inputs`; else mend that line"
    )
    assert caught.value.keys == ("inputs",)


def test_values_that_the_model_does_not_take_are_told_with_the_key_for_others(
    tmp_path: Path,
) -> None:
    ids = TensorSpec("ids", "int64", (1, 4))
    with pytest.raises(
        StageError, match=r"\('ids': integers from \[0, 2\)\): In"
    ) as caught:
        export(project(tmp_path / "a", ids), "Words")
    assert "export: {ranges: {INPUT: [LOW, HIGH]}}" in str(caught.value.hint)
    assert "it was given ids int64 [1, 4]: " in str(caught.value.hint)

    sys.modules.pop("netmodel")
    made = project(tmp_path / "b", ids)
    export(made, "Words", ranges={"ids": [500, 1000]})
    assert (made.made("exported") / "model.onnx").exists()


def test_parameters_without_weights_are_the_same_in_export_and_golden(
    tmp_path: Path,
) -> None:
    made = project(tmp_path, IMAGE, SCALE)
    made.sample(feeds(0))
    torch.manual_seed(1)
    export(made)
    torch.manual_seed(2)
    np.random.default_rng(0)
    made.golden(torch=source())


GEARS = [{"x": [1, 3, 8, 8], "y": [1, 4]}, {"x": [3, 3, 8, 24], "y": [3, 4]}]


def opened(tmp_path: Path, *specs: TensorSpec, **indexes: list[int]) -> Pipeline:
    made = project(tmp_path, *specs)
    for each in made.inputs:
        if each["name"] in indexes:
            each["open"] = indexes[each["name"]]
    return made


@pytest.mark.parametrize("exporter", ["dynamo", "torchscript"])
def test_model_of_gears_stays_open_and_is_pytorchs_at_each(
    exporter: str, tmp_path: Path
) -> None:
    x, y = (TensorSpec(n, "float32", tuple(GEARS[0][n])) for n in ("x", "y"))
    made = opened(tmp_path, x, y, x=[0, 3], y=[0])
    made.run("samples", samples={"random": {"seed": 0, "count": 2}}, shapes=GEARS)
    export(made, "Open", exporter=exporter)
    made.golden(torch=source("Open"))
    made.simplify()

    written = onnx.load(made.made("simplified") / "model.onnx")
    sizes = [d.dim_value for d in written.graph.input[0].type.tensor_type.shape.dim]
    assert sizes == [0, 3, 8, 0]
    golden = [TensorSet(made.made("golden") / kind) for kind in ("torch", "onnx")]
    for number, gear in enumerate(GEARS):
        for each in golden:
            assert each.load(number, "output").shape == (gear["x"][0], 4)
    document = json.loads(made.made("golden.json").read_text())
    assert document["torch_onnx"]["output"]["relative"] < 1e-5


def test_inputs_without_a_name_stay_open_too(tmp_path: Path) -> None:
    a, b = (TensorSpec(name, "float32", (1, 3)) for name in ("a", "b"))
    made = opened(tmp_path, a, b, b=[0])
    export(made, "Nameless")

    written = onnx.load(made.made("exported") / "model.onnx")
    shapes = [value.type.tensor_type.shape.dim for value in written.graph.input]
    assert [[d.dim_value for d in each] for each in shapes] == [[1, 3], [0, 3]]


def test_size_that_the_model_fixes_is_told(tmp_path: Path) -> None:
    made = opened(tmp_path, TensorSpec("x", "float32", (1, 3)), x=[0])

    with pytest.raises(StageError) as caught:
        export(made, "Narrow")

    assert caught.value.message == (
        "torch's dynamo exporter failed: convert leaves size 0 of 'x' open, and the model "
        "takes 2 there alone"
    )
    assert "take sizes from the input's shape" in str(caught.value.hint)


def test_size_that_the_tracer_freezes_is_found_at_another_gear(tmp_path: Path) -> None:
    made = opened(tmp_path, TensorSpec("x", "float32", (1, 3)), x=[0])
    gears = [{"x": [1, 3]}, {"x": [4, 3]}]
    made.run("samples", samples={"random": {"seed": 0, "count": 2}}, shapes=gears)
    told = export(made, "Frozen", exporter="torchscript").warnings

    assert any("the graph has only the value of one run" in each for each in told)
    with pytest.raises(StageError, match="PyTorch and the exported model differ"):
        made.golden(torch=source("Frozen"))


SCRIPT = """
import sys
from pathlib import Path
from tests.stage_runs import Pipeline
folder = Path(sys.argv[1])
inputs = [{"name": "image", "dtype": "float32", "shape": [1, 3, 8, 8]},
          {"name": "scale", "dtype": "float32", "shape": []}]
made = Pipeline(folder / "pipelines" / "net", folder / "build", inputs)
made.run("export", torch={"module": "netmodel.py", "factory": "build", "arguments": {}},
         onnx=False, exporter=sys.argv[2], opset=15)
"""


@pytest.mark.slow
@pytest.mark.parametrize("exporter", ["dynamo", "torchscript"])
def test_two_checkouts_export_the_same_bytes(exporter: str, tmp_path: Path) -> None:
    root = Path(__file__).resolve().parents[3]
    written = []
    for number, name in enumerate(("first", "a second one")):
        folder = tmp_path / name
        (folder / "pipelines" / "net").mkdir(parents=True)
        (folder / "pipelines" / "net" / "netmodel.py").write_text(MODEL)
        for package in ("ascendflow", "tests"):
            shutil.copytree(root / package, folder / package)
        environment = {
            **os.environ,
            "PYTHONHASHSEED": str(number + 1),
            "PYTHONPATH": str(folder),
        }
        subprocess.run(
            [sys.executable, "-c", SCRIPT, str(folder), exporter],
            env=environment,
            cwd=folder,
            check=True,
            capture_output=True,
        )
        made = folder / "build" / "export"
        files = sorted(path for path in made.rglob("*") if path.is_file())
        written.append({str(p.relative_to(made)): p.read_bytes() for p in files})

    assert set(written[0]) == {"exported/model.onnx", "nodes.json"}
    assert written[0] == written[1]
