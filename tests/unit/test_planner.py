from __future__ import annotations

import json
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from ascendflow import planner, stages
from ascendflow.errors import NotModelledError, PlanError
from ascendflow.manifest.load import LoadedManifest, load_manifest
from ascendflow.plan import OF_SEVERAL, Plan
from ascendflow.planner import PER_BACKEND, _in_order, _producers, make_plan
from ascendflow.reads.names import Places
from ascendflow.vocabulary import STAGES
from tests.checkouts import DATA, MANIFEST, METRIC, MODEL

if TYPE_CHECKING:
    from pathlib import Path


def stage(name: str, consumes: set[str], produces: set[str]) -> Any:
    return SimpleNamespace(
        name=name,
        __module__=f"ascendflow.stages.{name}",
        consumes=frozenset(consumes),
        produces=frozenset(produces),
        computes_floats=False,
        tools=lambda _config: (),
    )


@pytest.fixture
def loaded(tmp_path: Path) -> LoadedManifest:
    folder = tmp_path / "pipelines" / "toy"
    folder.mkdir(parents=True)
    text = MANIFEST.format(model="toy")
    weights = "arguments: {classes: 5}, weights: {file: weights.pt, key: state}"
    text = text.replace("arguments: {classes: 5}", weights)
    (folder / "manifest.yaml").write_text(text)
    (folder / "weights.pt").touch()
    for name, code in {"model": MODEL, "data": DATA, "metric": METRIC}.items():
        (folder / f"{name}.py").write_text(code)
    return load_manifest(folder / "manifest.yaml", repository=tmp_path, roots={})


def plan_of(loaded: LoadedManifest, tmp_path: Path) -> Plan:
    places = Places(tmp_path / "pipelines" / "toy", tmp_path, {})
    return make_plan(loaded, run_name="toy", places=places, roots={"data": tmp_path})


def test_stages_are_planned_producers_first(loaded: LoadedManifest, tmp_path: Path) -> None:
    plan = plan_of(loaded, tmp_path)
    names = [stage.name for stage in plan.stages]

    assert names == [name for name in STAGES if name not in OF_SEVERAL]
    for stage in plan.stages:
        for made_by in stage.inputs.values():
            assert names.index(made_by) < names.index(stage.name)


def test_stage_gets_its_slice_its_files_and_the_modules_of_its_backend(
    loaded: LoadedManifest, tmp_path: Path
) -> None:
    plan = plan_of(loaded, tmp_path)
    convert, gate = plan.stage("convert"), plan.stage("gate")

    assert convert.config == {
        "backend": "emulator",
        "cann": "8.1",
        "soc_version": "Ascend310P3",
        "precision_mode": "force_fp16",
        "keep_dtype": [],
        "modify_mixlist": None,
        "customize_dtypes": {},
        "op_select_implmode": None,
        "optypelist_for_implmode": [],
        "is_weight_clip": None,
    }
    assert any(module.startswith("ascendflow.backends.") for module in convert.modules)
    child = ("ascendflow.child.command", "ascendflow.stages.__main__")
    assert gate.modules == (*child, "ascendflow.stages.gate")
    assert plan.stage("golden").files == {"weights": "pipeline:weights.pt"}
    assert plan.stage("samples").files == {}


def test_thresholds_and_target_are_in_no_slice_before_theirs(
    loaded: LoadedManifest, tmp_path: Path
) -> None:
    for stage in plan_of(loaded, tmp_path).stages:
        text = json.dumps(stage.config)
        assert ("0.9" in text) == (stage.name == "gate")
        if stage.name in ("samples", "export", "golden", "simplify", "rewrite", "check"):
            assert "Ascend310P3" not in text
            assert "8.1" not in text


def test_report_takes_the_warnings_of_every_stage_before_it(
    loaded: LoadedManifest, tmp_path: Path
) -> None:
    plan = plan_of(loaded, tmp_path)
    report = plan.stage("report")

    before = STAGES[: STAGES.index("report")]
    assert report.warnings_of == before
    assert report.after == tuple(sorted(before))
    assert "warnings.json" not in report.inputs
    assert {stage.name for stage in plan.stages if stage.warnings_of} == {"report"}


def test_role_made_twice_is_an_error_that_names_both() -> None:
    with pytest.raises(PlanError, match="'model' is made by both 'convert' and 'infer'"):
        _producers(
            {
                "convert": stage("convert", set(), {"model"}),
                "infer": stage("infer", set(), {"model"}),
            }
        )


def test_stages_that_wait_for_each_other_are_an_error_that_shows_the_cycle() -> None:
    planned: Any = {
        "rewrite": SimpleNamespace(after=("check",)),
        "check": SimpleNamespace(after=("rewrite",)),
        "gate": SimpleNamespace(after=()),
    }

    with pytest.raises(
        PlanError, match=r"wait for each other: (rewrite|check) -> "
    ) as caught:
        _in_order(planned)
    assert "gate" not in str(caught.value)


def test_choice_of_order_is_that_of_the_registry() -> None:
    planned: Any = {
        "b": SimpleNamespace(after=("c",)),
        "a": SimpleNamespace(after=()),
        "c": SimpleNamespace(after=()),
    }

    assert _in_order(planned) == ["a", "c", "b"]


def test_input_that_no_stage_makes_is_an_error(
    loaded: LoadedManifest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = stages.load_stage

    def load(name: str) -> Any:
        return (
            stage("check", {"samplez"}, {"check.json"}) if name == "check" else real(name)
        )

    monkeypatch.setattr(planner, "load_stage", load)

    with pytest.raises(
        PlanError, match="stage 'check' needs samplez, which no stage makes"
    ):
        plan_of(loaded, tmp_path)


def test_file_outside_of_every_place_is_an_error(
    loaded: LoadedManifest, tmp_path: Path
) -> None:
    places = Places(tmp_path / "other", tmp_path / "other", {})

    with pytest.raises(
        PlanError, match=r"weights\.pt is neither in the repository nor below"
    ):
        make_plan(loaded, run_name="toy", places=places, roots={})


def test_target_that_is_not_modelled_is_refused(
    tmp_path: Path, loaded: LoadedManifest
) -> None:
    path = tmp_path / "pipelines" / "toy" / "manifest.yaml"
    asked = load_manifest(path, repository=tmp_path, roots={}, precision="force_fp32")
    path.write_text(path.read_text().replace("force_fp16", "force_fp32"))
    written = load_manifest(path, repository=tmp_path, roots={})

    with pytest.raises(
        NotModelledError,
        match=r"^precision=force_fp32 on the command line, the rest of pipelines/toy/",
    ):
        plan_of(asked, tmp_path)
    with pytest.raises(
        NotModelledError,
        match=r"^pipelines/toy/manifest\.yaml:\d+: convert\.precision_mode",
    ):
        plan_of(written, tmp_path)
    assert plan_of(loaded, tmp_path).model == "toy"


def test_nothing_is_converted_before_its_rewrite_was_checked(
    loaded: LoadedManifest, tmp_path: Path
) -> None:
    plan = plan_of(loaded, tmp_path)
    convert = plan.stage("convert")

    assert convert.after == ("check", "lint", "rewrite")
    assert set(convert.inputs.values()) == {"rewrite"}


CANN = """backend: {}
  toolkit: /cann
  python: /usr/bin/python3
  fusion_switch_file: switches.cfg
  deterministic: true"""


def of_backends(tmp_path: Path, backends: str) -> Plan:
    """Plan the same manifest with other backends."""
    path = tmp_path / "pipelines" / "toy" / "manifest.yaml"
    text = path.read_text()
    path.write_text(text.replace("backend: emulator", backends))
    path.with_name("switches.cfg").write_text("ConvBatchnormFusionPass:off\n")
    plan = plan_of(load_manifest(path, repository=tmp_path, roots={}), tmp_path)
    path.write_text(text)
    return plan


def test_each_backend_of_several_has_stages_as_if_it_were_the_only_one(
    loaded: LoadedManifest, tmp_path: Path
) -> None:
    both = of_backends(tmp_path, CANN.format("[emulator, cann]"))
    alone = {
        "emulator": plan_of(loaded, tmp_path),
        "cann": of_backends(tmp_path, CANN.format("cann")),
    }

    for backend, plan in alone.items():
        for stage in plan.stages:
            name = f"{stage.name}@{backend}" if stage.name in PER_BACKEND else stage.name
            found = both.stage(name)
            assert found.inputs.keys() == stage.inputs.keys()
            assert found._replace(name="", inputs={}, guards=(), warnings_of=()) == (
                stage._replace(name="", inputs={}, guards=(), warnings_of=())
            )
            for made_by in (*found.inputs.values(), *found.guards, *found.warnings_of):
                assert made_by.partition("@")[2] in ("", backend)
    assert "fusion_switch_file" in both.stage("convert@cann").files
    assert len(both.stages) == len(STAGES) + len(PER_BACKEND)


def test_list_of_one_is_that_one(loaded: LoadedManifest, tmp_path: Path) -> None:
    listed = of_backends(tmp_path, "backend: [emulator]")

    assert listed == plan_of(loaded, tmp_path)


@pytest.mark.usefixtures("loaded")
def test_contrast_takes_what_each_backend_made(tmp_path: Path) -> None:
    plan = of_backends(tmp_path, CANN.format("[emulator, cann]"))
    contrast = plan.stage("contrast")

    assert contrast.inputs["cann/metrics.json"] == "compare@cann"
    assert contrast.inputs["emulator/metrics.json"] == "compare@emulator"
    assert contrast.inputs["simplified"] == "simplify"
    assert contrast.config["not_emulated"] == ["deterministic", "fusion_switch_file"]
    assert plan.stages[-1] == contrast
