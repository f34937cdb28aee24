"""`backend: cann` from the manifest to the OM, by a stand-in of ATC."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import numpy as np
import onnx
import pytest

from tests.checkouts import Checkout
from tests.exported_models import model, node, value
from tests.sshd import running_sshd
from tests.toolkits import make_device, make_device_python, make_python, make_toolkit

pytestmark = pytest.mark.slow

CANN = "  backend: cann\n"
BACKEND = """\
  backend: cann
  toolkit: {toolkit}
  python: {python}
"""


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    folder = tmp_path_factory.mktemp("empty") / "repository"
    return Checkout(folder, models=(), stand_ins=False)


def begun(checkout: Checkout, tmp_path: Path, shape: tuple[str | int, ...] = (2,)) -> Path:
    """Start the model `net` for `backend: cann`; return its toolkit."""
    proto = model(
        [node("Relu", ["x"], ["y"], name="act")], [value("x", shape)], [value("y", shape)]
    )
    onnx.save(proto, tmp_path / "m.onnx")
    fixed = ["--shape", "x:1,2"] if "n" in shape else []
    made = checkout.doit("init", "net", "--onnx", str(tmp_path / "m.onnx"), *fixed)
    assert made.code == 0, made.text
    toolkit = make_toolkit(tmp_path / "cann" / "latest")
    backend = BACKEND.format(toolkit=toolkit, python=make_python(tmp_path / "py"))
    manifest = checkout.path("pipelines/net/manifest.yaml")
    text = manifest.read_text()
    text = re.sub(r"  backend: emulator.*\n", lambda _: backend, text)
    assert backend in text, text
    manifest.write_text(text)
    return toolkit


def still_there(toolkit: Path) -> list[str]:
    """Return the processes of the stand-in that have not ended."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            command = (folder / "cmdline").read_bytes()
        except OSError:
            continue
        if os.fsencode(toolkit) in command:
            found.append(folder.name)
    return found


def test_om_is_built_kept_and_built_again_for_another_toolkit(
    empty: Checkout, tmp_path: Path
) -> None:
    checkout = empty.copied_to(tmp_path / "仓库 v1")
    toolkit = begun(checkout, tmp_path)

    first = checkout.doit("convert:net")
    assert (first.code, first.executed[-1]) == (0, "convert"), first.text
    assert (checkout.path("build/net/convert/model/model.om").read_bytes())[:4] == b"IMOD"
    document = json.loads(checkout.path("build/net/convert/conversion.json").read_text())
    assert (document["backend"], document["is_real_device"]) == ("cann", True)
    assert document["toolchain"]["versions"]["cann"] == "8.1.RC1"
    assert "ATC run success" in checkout.path("build/net/convert/log.txt").read_text()
    assert checkout.doit("convert:net").executed == []

    with (toolkit / "opp" / "version.info").open("a") as file:
        file.write("patched=1\n")
    assert checkout.doit("convert:net").executed == ["convert"]

    numpy = tmp_path / "py" / "site" / "numpy" / "__init__.py"
    numpy.write_text('__version__ = "1.26.5"\n')
    again = checkout.doit("info", "convert:net").text
    assert "1.26.5" in again


def test_model_runs_from_manifest_to_verdict_on_a_device(
    empty: Checkout, tmp_path: Path
) -> None:
    checkout = empty.copied_to(tmp_path / "repository")
    toolkit = begun(checkout, tmp_path)
    make_device(toolkit)
    python = make_device_python(tmp_path / "infer")
    with checkout.path("pipelines/net/manifest.yaml").open("a") as manifest:
        manifest.write(f"infer: {{python: {python}}}\n")

    run = checkout.doit("model=net")

    assert run.code == 0, run.text
    assert run.executed[-1] == "report"
    verdict = json.loads(checkout.path("build/net/gate/verdict.json").read_text())
    assert (verdict["backend"], verdict["passed"]) == ("cann", True)
    assert "Ascend310P3" in checkout.path("build/net/infer/log.txt").read_text()
    assert checkout.doit("model=net").executed == []

    # Another device behind the same manifest is told when it is run anew.
    make_device(toolkit, soc="Ascend310B1")
    (toolkit / "runtime" / "version.info").write_text("Version=7.7.0.1.239\n")
    again = checkout.doit("infer:net")
    assert again.code == 2
    assert "built for Ascend310P3, and device 0 is Ascend310B1" in again.text
    assert not again.has_traceback


def test_model_runs_on_a_board(empty: Checkout, tmp_path: Path) -> None:
    checkout = empty.copied_to(tmp_path / "repository")
    toolkit = begun(checkout, tmp_path)
    make_device(toolkit)
    python = make_device_python(tmp_path / "infer")
    with running_sshd(tmp_path / "ssh") as sshd:
        with checkout.path("pipelines/net/manifest.yaml").open("a") as manifest:
            manifest.write(
                f"infer: {{host: {sshd.host}, ssh_config: {sshd.config}, "
                f"python: {python}, toolkit: {toolkit}}}\n"
            )

        run = checkout.doit("model=net")

        assert run.code == 0, run.text
        assert not (sshd.home / ".ascendflow").exists()
    # Without the board nothing runs, and nothing that has run is lost.
    assert checkout.doit("model=net").executed == []


def test_target_that_returns_nothing_fails(empty: Checkout, tmp_path: Path) -> None:
    # EV07: the OM runs, and its output is empty.
    checkout = empty.copied_to(tmp_path / "repository")
    toolkit = begun(checkout, tmp_path)
    make_device(toolkit, empty=True)
    python = make_device_python(tmp_path / "infer")
    with checkout.path("pipelines/net/manifest.yaml").open("a") as manifest:
        manifest.write(f"infer: {{python: {python}}}\n")

    run = checkout.doit("infer:net")

    assert run.code == 2
    assert "'act:0:y' is float32 [2] in the OM, and came as float32 [0]" in run.text
    assert not run.has_traceback


def test_model_of_gears_is_proven_at_each_before_it_is_built(
    empty: Checkout, tmp_path: Path
) -> None:
    checkout = empty.copied_to(tmp_path / "repository")
    begun(checkout, tmp_path, ("n", 2))
    manifest = checkout.path("pipelines/net/manifest.yaml")
    gears = "  input_shape: {x: [-1, 2]}\n  dynamic_batch_size: [1, 4, 8]\n"
    manifest.write_text(manifest.read_text().replace("  backend: cann\n", CANN + gears))

    run = checkout.doit("convert:net")

    assert run.code == 0, run.text
    exported = onnx.load(checkout.path("build/net/export/exported/model.onnx"))
    assert [d.dim_param for d in exported.graph.input[0].type.tensor_type.shape.dim] == [
        *("n", ""),
    ]
    document = json.loads(checkout.path("build/net/convert/conversion.json").read_text())
    assert "--input_shape=x:-1,2" in document["toolchain"]["arguments"]

    manifest.write_text(manifest.read_text().replace("[1, 4, 8]", "[1, 4, 8, 16, 32]"))
    fewer = checkout.doit("samples:net")
    assert fewer.code == 2
    assert "no sample has the shapes 'x' [32, 2]" in fewer.text


def test_device_and_onnx_get_the_same_picture(empty: Checkout, tmp_path: Path) -> None:
    checkout = empty.copied_to(tmp_path / "repository")
    begun(checkout, tmp_path, (1, 3, 4, 4))
    manifest = checkout.path("pipelines/net/manifest.yaml")
    aipp = "  aipp: {x: {input_format: RGB888_U8, mean: [1, 2, 3], scale: [0.5, 1, 2]}}\n"
    manifest.write_text(manifest.read_text().replace("  backend: cann\n", CANN + aipp))

    run = checkout.doit("convert:net")

    assert run.code == 0, run.text
    document = json.loads(checkout.path("build/net/convert/conversion.json").read_text())
    conf = "--insert_op_conf=options/insert_op_conf.cfg"
    assert conf in document["toolchain"]["arguments"]
    samples = checkout.path("build/net/samples/samples")
    picture = np.load(samples / "pictures" / "000000.000.npy")
    fed = np.load(samples / "feeds" / "000000.000.npy")
    assert (picture.dtype, picture.shape) == (np.uint8, (1, 4, 4, 3))
    shift, factor = np.array([1, 2, 3]), np.array([0.5, 1, 2])
    assert np.array_equal(fed, ((picture - shift) * factor).transpose(0, 3, 1, 2))


def test_refusal_is_told_with_code_and_node(empty: Checkout, tmp_path: Path) -> None:
    checkout = empty.copied_to(tmp_path / "repository")
    toolkit = begun(checkout, tmp_path)
    (toolkit / "fault").write_text("unknown operator")

    run = checkout.doit("convert:net")

    assert run.code == 2
    assert "E16002: an operator of this opset has no parser" in run.text
    assert "ONNX nodes: act" in run.text
    assert not run.has_traceback


def test_compiler_that_hangs_ends_with_its_stage(empty: Checkout, tmp_path: Path) -> None:
    checkout = empty.copied_to(tmp_path / "repository")
    toolkit = begun(checkout, tmp_path)
    assert checkout.doit("check:net").code == 0
    assert checkout.doit("lint:net").code == 0
    (toolkit / "fault").write_text("hang")
    with checkout.path("pipelines/net/manifest.yaml").open("a") as manifest:
        manifest.write("limits: {timeout_s: 6}\n")

    run = checkout.doit("convert:net")

    assert run.code == 2
    assert "limits.timeout_s is 6" in run.text
    assert still_there(toolkit) == []


def test_what_the_emulator_does_not_know_atc_judges(
    empty: Checkout, tmp_path: Path
) -> None:
    checkout = empty.copied_to(tmp_path / "repository")
    begun(checkout, tmp_path)
    manifest = checkout.path("pipelines/net/manifest.yaml")
    text = manifest.read_text().replace("force_fp16", "allow_mix_precision_bf16")
    manifest.write_text(text)

    chosen = checkout.doit("convert:net")
    manifest.write_text(re.sub(r"rules: auto", "rules: []", text))
    named = checkout.doit("convert:net")

    assert (chosen.code, chosen.has_traceback) == (3, False), chosen.text
    assert "rewrite.rules: auto cannot choose: precision_mode" in chosen.text
    assert (named.code, named.executed[-1]) == (0, "convert"), named.text
    assert "nothing was looked for, ATC judges" in named.text
