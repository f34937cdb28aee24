"""`backend: [emulator, cann]`: two branches, two verdicts, and what parts them."""

from __future__ import annotations

import json
import re
import shutil
from typing import TYPE_CHECKING

import jsonschema
import onnx
import pytest

from ascendflow.manifest import schema
from ascendflow.planner import PER_BACKEND
from tests.checkouts import ALL, Checkout
from tests.models import resize_chain
from tests.toolkits import make_device, make_device_python, make_python, make_toolkit

if TYPE_CHECKING:
    from pathlib import Path

MANIFEST = "pipelines/toy/manifest.yaml"
EMULATOR = "  backend: emulator\n"
BOTH = """\
  backend: [emulator, cann]
  toolkit: {toolkit}
  python: {python}
"""
OF_EMULATOR = {f"{stage}@emulator" for stage in PER_BACKEND}
OF_CANN = {f"{stage}@cann" for stage in PER_BACKEND}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """Return a model of stand-in stages, built with the emulator and then with both."""
    folder = tmp_path_factory.mktemp("both")
    checkout = Checkout(folder / "repository")
    assert checkout.doit("model=toy").code == 0
    toolkit, python = make_toolkit(folder / "cann"), make_python(folder / "python")
    checkout.edit(MANIFEST, EMULATOR, BOTH.format(toolkit=toolkit, python=python))
    return checkout


def _cann_block(checkout: Checkout) -> str:
    """Return the lines of the manifest that name both backends."""
    text = checkout.path(MANIFEST).read_text()
    found = re.search(r"  backend: \[.*\n  toolkit: .*\n  python: .*\n", text)
    assert found is not None
    return found[0]


@pytest.fixture
def checkout(built: Checkout, tmp_path: Path) -> Checkout:
    return built.copied_to(tmp_path / "repository")


def test_second_backend_makes_nothing_anew_of_the_first(checkout: Checkout) -> None:
    run = checkout.doit("model=toy")

    assert run.code == 0, run.text
    assert set(run.executed) == {*OF_CANN, "contrast"}
    assert set(run.restored) == OF_EMULATOR
    shared = set(ALL) - set(PER_BACKEND)
    folders = {path.name for path in checkout.path("build/toy").iterdir() if path.is_dir()}
    verdicts = {path.parent.name for path in checkout.path("build").rglob("verdict.json")}
    assert folders >= {*shared, *OF_CANN, *OF_EMULATOR, "contrast"}
    # No verdict of what is no longer planned is left to be taken for this one's.
    assert verdicts == {"gate@emulator", "gate@cann"}
    assert "the prediction held" in run.text
    assert run.text.count("toy: passed") == 2
    assert checkout.doit("model=toy").executed == []


def test_one_backend_again_leaves_no_verdict_of_the_other(checkout: Checkout) -> None:
    checkout.doit("model=toy")
    checkout.edit(MANIFEST, _cann_block(checkout), EMULATOR)

    run = checkout.doit("model=toy")

    assert (run.code, run.executed) == (0, []), run.text
    verdicts = {path.parent.name for path in checkout.path("build").rglob("verdict.json")}
    assert verdicts == {"gate"}
    assert not checkout.path("build/toy/contrast").exists()


def test_option_of_the_device_reruns_its_branch_alone(checkout: Checkout) -> None:
    checkout.doit("model=toy")
    block = _cann_block(checkout)
    checkout.edit(MANIFEST, block, block + "  deterministic: true\n")

    stale = checkout.doit("explain", "model=toy").text
    run = checkout.doit("model=toy")

    assert re.search(r"convert@cann +stale", stale)
    assert re.search(r"convert@emulator +up to date", stale)
    assert run.code == 0, run.text
    assert {"convert@cann", "gate@cann", "contrast"} <= set(run.executed)
    assert not {*run.executed, *run.restored} - {*OF_CANN, "contrast"}


@pytest.mark.parametrize(
    ("failing", "passing"), [("cann", "emulator"), ("emulator", "cann")]
)
def test_gate_fails_if_one_backend_fails(
    checkout: Checkout, failing: str, passing: str
) -> None:
    checkout.inject(
        "gate",
        f"if '\"backend\": \"{failing}\"' in ctx.inputs['conversion.json'].read_text():",
        "    ctx.config['outputs']['*']['cosine_similarity']['min'] = 0.99",
    )

    run = checkout.doit("model=toy")

    assert run.code == 1, run.text
    assert f"report@{failing}/report.html" in run.text
    assert f"report@{passing}/report.html" not in run.text
    assert "the prediction did NOT hold" in run.text
    assert run.text.count("toy: passed") == 1
    listed = checkout.doit("list").text
    assert f"{failing}: gate FAILED (1 of 1 check)" in listed
    assert f"{passing}: gate passed" in listed


def test_branch_that_fails_leaves_the_other_to_go_on(checkout: Checkout) -> None:
    checkout.inject(
        "convert",
        "from ascendflow.errors import StageError",
        "if ctx.config['backend'] == 'cann': raise StageError('convert: no NPU here')",
    )

    run = checkout.doit("--continue", "model=toy")

    assert run.code == 2
    assert {"gate@emulator", "report@emulator"} <= {*run.executed, *run.restored}
    assert "   toy: 6 stages not run, convert@cann:toy failed\n" in run.text
    assert "convert@cann:toy: no NPU here\n" in run.text
    assert "\ntoy: passed" not in run.text
    assert run.text.count("\nemulator: toy: passed (1 check; ") == 1


def test_missing_toolkit_fails_its_own_branch_alone_and_is_told_once(
    checkout: Checkout,
) -> None:
    gone = "  toolkit: /gone/cann\n"
    manifest = checkout.path(MANIFEST)
    manifest.write_text(re.sub(r"  toolkit: .*\n", gone, manifest.read_text()))
    shutil.rmtree(checkout.path("build"))

    whole = checkout.doit("model=toy")
    run = checkout.doit("--continue", "model=toy")

    assert (whole.code, whole.executed, whole.restored) == (2, [], []), whole.text
    assert run.code == 2, run.text
    assert {*run.executed, *run.restored} == {*ALL} - {*PER_BACKEND} | OF_EMULATOR
    assert run.text.count("convert.toolkit: /gone/cann") == 1
    assert "   toy: 7 stages not run, lint@cann:toy failed\n" in run.text
    assert run.text.count("\nemulator: toy: passed (1 check; ") == 1
    line = manifest.read_text()[: manifest.read_text().index("toolkit")].count("\n") + 1
    lacks = "\nERROR: toy: backend cann lacks what it needs here:\n"
    where = f"{lacks}{MANIFEST}:{line}: convert.t"
    assert where in whole.text
    assert where in run.text
    assert "hint: `--continue` builds emulator all the same\n" in whole.text
    assert "`--continue`" not in run.text


def test_name_without_a_backend_stands_for_all(checkout: Checkout) -> None:
    run = checkout.doit("convert:toy")
    assert {"convert@emulator", "convert@cann"} <= {*run.executed, *run.restored}
    assert "convert:toy" not in run.executed

    said = checkout.doit("explain", "convert", "model=toy").text
    assert re.findall(r"convert@\w+ +up to date", said)
    assert "gate" not in said

    forgotten = checkout.doit("forget", "convert:toy").text
    assert "forgetting convert@cann:toy" in forgotten
    assert set(checkout.doit("convert:toy").restored) == {
        "convert@emulator",
        "convert@cann",
    }
    checkout.doit("clean", "convert:toy")
    left = {path.name for path in checkout.path("build/toy").iterdir()}
    assert not left & {"convert@emulator", "convert@cann"}


def test_each_stage_of_a_backend_is_a_task_that_list_and_info_know(
    checkout: Checkout,
) -> None:
    listed = checkout.doit("list").text
    assert "convert@cann        convert@cann of every selected model" in listed
    assert "reasons': ['never built']" in checkout.doit("info", "convert@cann:toy").text
    near = checkout.doit("convert@can:toy")
    assert near.code == 3
    assert "did you mean 'convert@cann:toy'?" in near.text


@pytest.mark.slow
def test_report_shows_where_emulator_and_device_disagree(tmp_path: Path) -> None:
    """The stand-in device samples as ONNX says, and the emulator as CANN's sources do."""
    checkout = Checkout(tmp_path / "repository", models=(), stand_ins=False)
    onnx.save(resize_chain("half_pixel"), tmp_path / "m.onnx")
    assert checkout.doit("init", "net", "--onnx", str(tmp_path / "m.onnx")).code == 0
    toolkit = make_toolkit(tmp_path / "cann" / "latest")
    make_device(toolkit)
    backend = f"""\
  backend: [emulator, cann]
  toolkit: {toolkit}
  python: {make_python(tmp_path / "py")}
"""
    manifest = checkout.path("pipelines/net/manifest.yaml")
    text = manifest.read_text().replace("rules: auto", "rules: []")
    manifest.write_text(text)
    assert checkout.doit("model=net").code == 1
    text = re.sub(r"  backend: emulator.*\n", lambda _: backend, text)
    python = make_device_python(tmp_path / "infer")
    manifest.write_text(f"{text}infer: {{python: {python}}}\n")

    run = checkout.doit("model=net")

    assert run.code == 1, run.text
    assert set(run.restored) == OF_EMULATOR
    document = json.loads(checkout.path("build/net/contrast/contrast.json").read_text())
    jsonschema.validate(document, json.loads(schema.read("contrast")))
    predicted, measured = document["predicted"], document["measured"]
    assert (predicted["is_real_device"], predicted["passed"]) == (False, False)
    assert (measured["is_real_device"], measured["passed"]) == (True, True)
    assert measured["versions"]["cann"] == "8.1.RC1"
    (output,) = document["outputs"]
    assert output["metrics"]["cosine_similarity"] < 0.99
    # The first node is where the two part; in fp16 the stand-in's error is its rounding.
    row = document["nodes"][0]
    assert (row["node"], row["op_type"], row["standing"]) == (
        *("u0", "Resize", "predicted_only"),
    )
    assert row["emulated"] == ["resize-half-pixel"]
    assert row["predicted"]["relative_euclidean_distance"] > 0.1
    assert row["measured"]["relative_euclidean_distance"] < 1e-3
    assert row["shapes"]["u0"] == [1, 3, 12, 16]
    assert len(document["nodes"]) == 15
    assert "u0 (Resize): relative_euclidean_distance" in run.text
    assert "measured on a device" in run.text
    assert str(tmp_path) not in json.dumps(document)
    assert not run.has_traceback
