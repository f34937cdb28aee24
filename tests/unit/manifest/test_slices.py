from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ascendflow import vocabulary
from ascendflow.errors import ManifestError
from ascendflow.manifest import slices

if TYPE_CHECKING:
    from ascendflow.manifest.models import Manifest
    from tests.unit.manifest.conftest import Repository

MANIFESTS = Path(__file__).parents[2] / "manifests"
EVERYTHING = (MANIFESTS / "valid-everything.yaml").read_text()
SMALLEST = (MANIFESTS / "valid-smallest.yaml").read_text()


def cut(manifest: Manifest) -> dict[str, str]:
    """Canonical text of each slice, as a key is made from it."""
    return {
        stage: json.dumps(slicer(manifest), sort_keys=True, allow_nan=False)
        for stage, slicer in slices.SLICES.items()
    }


def changed(repository: Repository, before: str, old: str, new: str) -> set[str]:
    """Stages whose slice an edit changes."""
    assert old in before
    first = cut(repository.load(before).manifest)
    second = cut(repository.load(before.replace(old, new)).manifest)
    return {stage for stage in first if first[stage] != second[stage]}


def test_every_stage_has_a_slice() -> None:
    assert tuple(slices.SLICES) == vocabulary.STAGES


def test_comments_order_and_anchors_change_no_slice(repository: Repository) -> None:
    lines = EVERYTHING.splitlines(keepends=True)
    start = lines.index("compare: {node_samples: 1}\n")
    shuffled = "".join([*lines[start:], "# moved\n\n", *lines[:start]])
    shuffled = shuffled.replace(
        "{name: image, dtype: float32, shape: [1, 3, 192, 256]}",
        "&i {shape: &s [1, 3, 192, 0x100], dtype: float32, name: 'image'}   # the picture",
    )
    shuffled = shuffled.replace("max_relative_error: 1e-3", "max_relative_error: 0.001")

    assert shuffled != EVERYTHING
    assert cut(repository.load(shuffled).manifest) == cut(
        repository.load(EVERYTHING).manifest
    )


def test_spelled_out_defaults_change_no_slice(repository: Repository) -> None:
    spelled = SMALLEST.replace("{count: 2}", "{count: 2, seed: 0, ranges: {}}").replace(
        "soc_version: Ascend310P3",
        "soc_version: Ascend310P3, precision_mode: force_fp16, backend: emulator",
    )
    spelled += "simplify: {enabled: true, max_relative_error: 1e-4}\ninfer: {threads: 1}\n"
    spelled += "rewrite: {rules: [], allow_lossy: false}\ncompare: {node_samples: 1}\n"
    spelled += f"gate: {json.dumps({'outputs': {'*': DEFAULT}})}\n"

    assert cut(repository.load(spelled).manifest) == cut(repository.load(SMALLEST).manifest)


@pytest.mark.parametrize(
    ("old", "new", "stages"),
    [
        pytest.param("min: 0.999", "min: 0.99", {"gate"}, id="threshold"),
        pytest.param("drop: 0.01", "drop: 0.02", {"gate"}, id="end-threshold"),
        pytest.param("Ascend310P3", "Ascend310B1", {"lint", "convert"}, id="soc"),
        pytest.param("force_fp16", "force_fp32", {"lint", "convert"}, id="precision"),
        pytest.param("8.1.RC1", "7.0", {"lint", "convert"}, id="cann"),
        pytest.param("count: 2}", "count: 3}", {"rewrite"}, id="rule"),
        pytest.param("allow_lossy: false", "allow_lossy: true", {"check"}, id="lossy"),
        pytest.param("opset: 15", "opset: 13", {"export"}, id="opset"),
        pytest.param("dynamo", "torchscript", {"export"}, id="exporter"),
        pytest.param("error: 1e-3", "error: 1e-2", {"golden"}, id="golden-limit"),
        pytest.param("error: 1e-4", "error: 1e-5", {"simplify"}, id="simplify-limit"),
        pytest.param("node_samples: 1", "node_samples: 2", {"compare"}, id="node-samples"),
        pytest.param("threads: 2", "threads: 3", {"infer", "compare"}, id="threads"),
        pytest.param("count: 40", "count: 41", {"samples"}, id="samples"),
        pytest.param("ignore: 255", "ignore: 0", {"evaluate"}, id="metric-argument"),
        pytest.param("classes: 5", "classes: 6", {"export", "golden"}, id="model-argument"),
        pytest.param(
            "key: state_dict", "key: model", {"export", "golden"}, id="weights-key"
        ),
        pytest.param(
            "direction: higher",
            "direction: lower",
            {"evaluate", "gate", "report"},
            id="direction",
        ),
        pytest.param("timeout_s: 3600", "timeout_s: 60", set(), id="limits"),
        pytest.param("passive", "active", set(), id="environment"),
    ],
)
def test_edit_changes_only_the_slices_it_concerns(
    repository: Repository, old: str, new: str, stages: set[str]
) -> None:
    assert changed(repository, EVERYTHING, old, new) == stages


def test_a_model_is_exported_on_the_ranges_of_its_random_samples_or_on_its_own(
    repository: Repository,
) -> None:
    """An ONNX file is run on nothing."""
    torch = SMALLEST.replace(
        "{onnx: det.onnx}", "{torch: {module: model.py, factory: build}}"
    )
    ranged = torch.replace("count: 2", "count: 2, ranges: {image: [2, 3]}")
    own = f"{ranged}export: {{ranges: {{image: [4, 5]}}}}\n"
    of_onnx = SMALLEST.replace("count: 2", "count: 2, ranges: {image: [2, 3]}")

    cut_of = [
        json.loads(cut(repository.load(text).manifest)["export"])
        for text in (torch, ranged, own, of_onnx)
    ]

    assert [each.get("ranges") for each in cut_of] == [
        None,
        {"image": [2, 3]},
        {"image": [4, 5]},
        None,
    ]


def test_equal_precision_modes_are_one_slice(repository: Repository) -> None:
    old = "precision_mode: force_fp16"
    same = EVERYTHING.replace(old, "precision_mode_v2: fp16")

    assert old in EVERYTHING
    assert changed(repository, EVERYTHING, old, "precision_mode_v2: fp16") == set()
    slice_ = json.loads(cut(repository.load(same).manifest)["convert"])
    assert slice_["precision_mode"] == "force_fp16"


@pytest.mark.parametrize(
    "settings",
    [
        "keep_dtype: [a]",
        "customize_dtypes: {a: {inputs: [float32]}}",
        "op_select_implmode: high_precision",
        "is_weight_clip: false",
    ],
)
def test_precision_settings_are_of_lint_and_convert(
    repository: Repository, settings: str
) -> None:
    old = "precision_mode: force_fp16"

    assert changed(repository, EVERYTHING, old, f"{old}, {settings}") == {
        "lint",
        "convert",
    }


def test_one_spelling_of_the_mode_is_enough(repository: Repository) -> None:
    both = "precision_mode: force_fp16, precision_mode_v2: fp16"
    twice = EVERYTHING.replace("precision_mode: force_fp16", both)

    with pytest.raises(ManifestError, match="precision_mode_v2 stands beside"):
        repository.load(twice)
    v2 = EVERYTHING.replace("precision_mode: force_fp16", "precision_mode_v2: fp16")
    over = repository.load(v2, precision="must_keep_origin_dtype").manifest.convert
    assert over.precision == "must_keep_origin_dtype"


def test_override_of_the_soc_changes_lint_and_convert(repository: Repository) -> None:
    plain = cut(repository.load(EVERYTHING).manifest)
    other = cut(repository.load(EVERYTHING, soc="Ascend310B1").manifest)

    differ = {stage for stage in plain if plain[stage] != other[stage]}
    assert differ == {"lint", "convert"}


def test_backend_is_of_every_stage_that_asks_it(repository: Repository) -> None:
    cann = "backend: cann, toolkit: /usr/local/Ascend/latest, python: /usr/bin/python3"
    old = "soc_version: Ascend310P3"

    stages = changed(repository, SMALLEST, old, f"{old}, {cann}")
    assert stages == {"lint", "convert", "infer", "compare", "contrast"}


def test_gears_are_of_every_stage_that_sees_shapes(repository: Repository) -> None:
    cann = "backend: cann, toolkit: /usr/local/Ascend/latest, python: /usr/bin/python3"
    old = "soc_version: Ascend310P3"
    base = SMALLEST.replace(old, f"{old}, {cann}")
    name = json.loads(cut(repository.load(base).manifest)["samples"])["inputs"][0]["name"]
    shape = json.loads(cut(repository.load(base).manifest)["samples"])["inputs"][0]["shape"]
    gears = f"input_shape: {{{name}: {[-1, *shape[1:]]}}}, dynamic_batch_size: [1, 4]"

    assert changed(repository, base, cann, f"{cann}, {gears}") == {
        *("samples", "export", "simplify", "lint", "convert", "infer", "contrast"),
    }
    slices = cut(repository.load(base.replace(cann, f"{cann}, {gears}")).manifest)
    both = [{name: shape}, {name: [4, *shape[1:]]}]
    assert json.loads(slices["samples"])["shapes"] == both
    assert json.loads(slices["lint"])["gears"] == both
    assert "gears" not in json.loads(slices["rewrite"])  # which has no rule
    auto = base.replace(cann, f"{cann}, {gears}") + "rewrite: {rules: auto}\n"
    slices = cut(repository.load(auto).manifest)
    assert json.loads(slices["rewrite"])["gears"] == both
    assert json.loads(slices["check"])["gears"] == both


def test_ranges_are_no_gears(repository: Repository) -> None:
    cann = "backend: cann, toolkit: /usr/local/Ascend/latest, python: /usr/bin/python3"
    old = "soc_version: Ascend310P3"
    base = SMALLEST.replace(old, f"{old}, {cann}")
    (given,) = json.loads(cut(repository.load(base).manifest)["samples"])["inputs"]
    opened = f"input_shape: {{{given['name']}: {[-1, *given['shape'][1:]]}}}"

    slices = cut(
        repository.load(
            base.replace(cann, f"{cann}, {opened}, dynamic_shape: true")
        ).manifest
    )

    assert "shapes" in json.loads(slices["samples"])
    assert "gears" not in json.loads(slices["lint"])


def test_gears_leave_sizes_of_a_pytorch_model_open_too(repository: Repository) -> None:
    cann = "backend: cann, toolkit: /usr/local/Ascend/latest, python: /usr/bin/python3"
    gears = "input_shape: {image: [-1, 3, 192, 256]}, dynamic_batch_size: [1, 4]"
    old = "backend: emulator"
    assert old in EVERYTHING

    loaded = repository.load(EVERYTHING.replace(old, f"{cann}, {gears}"))

    export = json.loads(cut(loaded.manifest)["export"])
    assert export["torch"] is not None
    assert export["inputs"][0]["open"] == [0]


def test_outputs_that_are_named_are_of_the_export_too(repository: Repository) -> None:
    cann = "backend: cann, toolkit: /usr/local/Ascend/latest, python: /usr/bin/python3"
    old = "soc_version: Ascend310P3"
    base = SMALLEST.replace(old, f"{old}, {cann}")

    stages = changed(repository, base, cann, f'{cann}, out_nodes: ["Conv_80:0"]')

    assert stages == {
        "export",
        "convert",
        "contrast",
    }  # which tells all that ATC alone reads
    with pytest.raises(ManifestError, match="out_nodes cuts an ONNX file, and the source"):
        repository.load(
            EVERYTHING.replace("backend: emulator", f'{cann}, out_nodes: ["a:0"]')
        )


def test_a_file_of_precision_is_of_the_stages_that_foresee_types(
    repository: Repository,
) -> None:
    cann = "backend: cann, toolkit: /usr/local/Ascend/latest, python: /usr/bin/python3"
    old = "soc_version: Ascend310P3"
    manifest = SMALLEST.replace(old, f"{old}, {cann}, keep_dtype: det.onnx")

    def with_file(text: str) -> set[str]:
        files = repository.load(text).files
        return {stage for stage in files if "keep_dtype" in files[stage]}

    assert with_file(manifest) == {"lint", "convert"}
    auto = manifest + "rewrite: {rules: auto}\n"
    assert with_file(auto) == {"rewrite", "lint", "convert"}


@pytest.mark.parametrize(
    ("mode", "hint"),
    [("high_precison", "did you mean 'high_precision'?"), ("on", "got 'on'")],
)
def test_mode_of_an_operator_that_atc_does_not_know_is_refused(
    repository: Repository, mode: str, hint: str
) -> None:
    cann = "backend: cann, toolkit: /usr/local/Ascend/latest, python: /usr/bin/python3"
    old = "soc_version: Ascend310P3"
    modes = f'op_precision_mode: {{"OpType::Relu": "{mode}"}}'

    with pytest.raises(ManifestError) as caught:
        repository.load(SMALLEST.replace(old, f"{old}, {cann}, {modes}"))

    told = str(caught.value)
    assert "convert.op_precision_mode['OpType::Relu'] must be one of high_prec" in told
    assert hint in told


def test_auto_makes_the_target_part_of_rewrite(repository: Repository) -> None:
    auto = SMALLEST + "rewrite: {rules: auto}\n"
    plain = cut(repository.load(auto).manifest)
    other = cut(repository.load(auto, soc="Ascend310B1").manifest)

    differ = {stage for stage in plain if plain[stage] != other[stage]}
    assert differ == {"rewrite", "lint", "convert"}
    assert json.loads(plain["rewrite"])["auto"]["soc_version"] == "Ascend310P3"


@pytest.mark.parametrize(
    ("cann", "opset"),
    [
        ("5.1.RC2", 15),
        ("6.0.RC1", 15),
        ("8.1", 15),
        ("8.1.RC1", 15),
        ("8.5", 18),
        ("10.0", 18),
    ],
)
def test_default_opset_is_what_the_parser_knows(
    repository: Repository, cann: str, opset: int
) -> None:
    manifest = EVERYTHING.replace("opset: 15, ", "").replace("8.1.RC1", cann)

    sliced = slices.SLICES["export"](repository.load(manifest).manifest)

    assert (sliced["opset"], sliced["exporter"]) == (opset, "dynamo")


def test_onnx_source_has_no_opset_and_no_torch(repository: Repository) -> None:
    manifest = repository.load(SMALLEST).manifest

    export = slices.SLICES["export"](manifest)
    assert export == {
        "inputs": [{"name": "image", "dtype": "float32", "shape": [1, 3, 8, 8]}],
        "torch": None,
        "onnx": True,
        "opset": None,
        "exporter": None,
    }
    assert slices.SLICES["golden"](manifest)["torch"] is None
    assert slices.SLICES["evaluate"](manifest) == {"metric": None}


DEFAULT = {"cosine_similarity": {"min": 0.999}, "mismatch_rate": {"max": 0}}
LOOSE = {"cosine_similarity": {"min": 0.9}}


@pytest.mark.parametrize(
    ("outputs", "judged"),
    [
        pytest.param(None, {"*": DEFAULT}, id="no-gate"),
        pytest.param({}, {"*": DEFAULT}, id="no-outputs"),
        pytest.param({"a": LOOSE}, {"a": LOOSE, "*": DEFAULT}, id="only-one-output"),
        pytest.param({"*": LOOSE}, {"*": {**DEFAULT, **LOOSE}}, id="floats-only"),
        pytest.param(
            {"*": {"mismatch_rate": {"max": 0.1}}},
            {"*": {**DEFAULT, "mismatch_rate": {"max": 0.1}}},
            id="integers-only",
        ),
        pytest.param(
            {"*": {"max_absolute_error": {"max": 1}}},
            {"*": {"max_absolute_error": {"max": 1}, "mismatch_rate": {"max": 0}}},
            id="another-metric-replaces-cosine",
        ),
    ],
)
def test_what_no_threshold_is_named_for_is_still_judged(
    repository: Repository, outputs: Any, judged: Any
) -> None:
    gate = "" if outputs is None else f"gate: {json.dumps({'outputs': outputs})}\n"

    assert (
        slices.SLICES["gate"](repository.load(SMALLEST + gate).manifest)["outputs"]
        == judged
    )


def test_a_rule_has_arguments_only_where_it_takes_some(repository: Repository) -> None:
    rules = "[pow-to-mul, {name: scale-conv, nodes: [conv], scale: 64}]"
    text = SMALLEST + f"rewrite: {{rules: {rules}}}\n"

    rewrite = json.loads(cut(repository.load(text).manifest)["rewrite"])

    assert rewrite["rules"] == [
        {"name": "pow-to-mul", "file": None, "nodes": None, "count": None},
        {
            "name": "scale-conv",
            "file": None,
            "nodes": ["conv"],
            "count": None,
            "arguments": {"scale": 64},
        },
    ]
