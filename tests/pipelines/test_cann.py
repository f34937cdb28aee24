"""`backend: cann` from the manifest to the OM, by a stand-in of ATC."""

from __future__ import annotations

import json
import os
import re
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import onnx
import pytest

from tests.exported_models import model, node, value
from tests.sshd import running_sshd
from tests.toolkits import (
    make_device,
    make_device_python,
    make_python,
    make_toolkit,
    turn_to_cann,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.checkouts import Checkout

pytestmark = pytest.mark.slow

CANN = "  backend: cann\n"


def begun(
    checkout: Checkout,
    tmp_path: Path,
    shape: tuple[str | int, ...] = (2,),
    *,
    source: Path | None = None,
) -> Path:
    """Start `net`, a Relu or `source`, for `backend: cann`; return its toolkit."""
    proto = model(
        [node("Relu", ["x"], ["y"], name="act")], [value("x", shape)], [value("y", shape)]
    )
    onnx.save(onnx.load(source) if source else proto, tmp_path / "m.onnx")
    fixed = ["--shape", "x:1,2"] if "n" in shape else []
    made = checkout.doit("init", "net", "--onnx", str(tmp_path / "m.onnx"), *fixed)
    assert made.code == 0, made.text
    return turned(checkout, tmp_path)


def turned(checkout: Checkout, tmp_path: Path) -> Path:
    """Turn `net` to `backend: cann`, with a CANN of the test's own; return its toolkit."""
    toolkit = make_toolkit(tmp_path / "cann" / "latest")
    manifest = checkout.path("pipelines/net/manifest.yaml")
    turn_to_cann(manifest, toolkit, make_python(tmp_path / "py"))
    return toolkit


@pytest.fixture(scope="module")
def linted(empty: Checkout, tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """Return a checkout whose Relu is built up to where the place of a CANN matters."""
    folder = tmp_path_factory.mktemp("linted")
    checkout = empty.copied_to(folder / "repository")
    begun(checkout, folder)
    assert checkout.doit("check:net", "lint:net").code == 0
    return checkout


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
    linted: Checkout, tmp_path: Path
) -> None:
    checkout = linted.copied_to(tmp_path / "repository")
    toolkit = turned(checkout, tmp_path)
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


def test_model_runs_on_a_board(linted: Checkout, tmp_path: Path) -> None:
    checkout = linted.copied_to(tmp_path / "repository")
    toolkit = turned(checkout, tmp_path)
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


def test_what_is_not_installed_is_told_before_the_first_stage(
    empty: Checkout, tmp_path: Path
) -> None:
    """EV09: atc is not there. Said at once, and only to a run that comes to it."""
    checkout = empty.copied_to(tmp_path / "repository")
    toolkit = begun(checkout, tmp_path)
    toolkit.rename(tmp_path / "gone")
    (tmp_path / "py").rename(tmp_path / "gone-too")

    run = checkout.doit("model=net")
    earlier = checkout.doit("check:net")
    late = checkout.doit("convert:net")

    assert (run.code, run.executed, run.has_traceback) == (2, [], False), run.text
    assert f"convert.toolkit: {toolkit} holds no atc" in run.text
    assert f"convert.python: {tmp_path}/py/bin/python3 is not there" in run.text
    assert "infer.toolkit" not in run.text
    assert earlier.code == 0, earlier.text
    assert (late.code, late.executed) == (2, [])
    assert f"convert.toolkit: {toolkit} holds no atc" in late.text


def test_board_that_is_off_is_told_first_and_fails_infer_alone(
    empty: Checkout, tmp_path: Path
) -> None:
    checkout = empty.copied_to(tmp_path / "repository")
    toolkit = begun(checkout, tmp_path)
    config = tmp_path / "closed"
    config.write_text("Host *\n  HostName 127.0.0.1\n  Port 1\n")
    with checkout.path("pipelines/net/manifest.yaml").open("a") as manifest:
        manifest.write(
            f"infer: {{host: root@board, ssh_config: {config}, "
            f"python: /usr/bin/python3, toolkit: {toolkit}}}\n"
        )

    run = checkout.doit("model=net")

    early, _, late = run.text.partition("samples:net executed")
    told = "infer: no connection to root@board: ssh: connect to host 127.0.0.1 port 1"
    warning = f"warning: infer:net will need what cannot be reached now: {told}"
    assert early.count(warning) == run.text.count(warning) == 1, run.text
    assert (run.code, run.executed[-1], run.has_traceback) == (2, "convert", False)
    assert f"\nERROR: {told.replace('infer:', 'infer:net:')}" in late
    assert "hint: try it by hand: ssh -o BatchMode=yes root@board" in late
    again = checkout.doit("model=net")  # infer is the next, and says it itself
    assert "cannot be reached now" not in again.text
    checkout.doit("clean", "model=net")
    assert "cannot be reached now" not in checkout.doit("convert:net").text


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_run_that_is_ended_leaves_nothing_on_the_board(
    linted: Checkout, tmp_path: Path, number: signal.Signals
) -> None:
    checkout = linted.copied_to(tmp_path / "repository")
    toolkit = turned(checkout, tmp_path)
    make_device(toolkit, sleeps_s=60)
    python = make_device_python(tmp_path / "infer")
    with running_sshd(tmp_path / "ssh") as sshd:
        with checkout.path("pipelines/net/manifest.yaml").open("a") as manifest:
            manifest.write(
                f"infer: {{host: {sshd.host}, ssh_config: {sshd.config}, "
                f"python: {python}, toolkit: {toolkit}}}\n"
            )
        with checkout.start("infer:net") as run:
            there = sshd.home / ".ascendflow"
            assert eventually(lambda: bool([*there.glob("*/answers.jsonl")]))
            os.killpg(run.pid, number)
            run.communicate()
        assert eventually(lambda: not there.exists())
        assert eventually(lambda: not still_there(sshd.home))

        make_device(toolkit)
        assert checkout.doit("infer:net").code == 0
        assert not there.exists()


def eventually(holds: Callable[[], bool]) -> bool:
    """Whether it holds within a while."""
    until = time.monotonic() + 60
    while not holds() and time.monotonic() < until:
        time.sleep(0.1)
    return holds()


def test_target_that_returns_nothing_fails(linted: Checkout, tmp_path: Path) -> None:
    # EV07: the OM runs, and its output is empty.
    checkout = linted.copied_to(tmp_path / "repository")
    toolkit = turned(checkout, tmp_path)
    make_device(toolkit, empty=True)
    python = make_device_python(tmp_path / "infer")
    with checkout.path("pipelines/net/manifest.yaml").open("a") as manifest:
        manifest.write(f"infer: {{python: {python}}}\n")

    run = checkout.doit("infer:net")

    assert run.code == 2
    assert "'act:0:y' is float32 [2] in the OM, and came as float32 [0]" in run.text
    assert not run.has_traceback


def test_boxes_in_another_order_are_the_same_boxes(
    empty: Checkout, tmp_path: Path, shared: Path
) -> None:
    """OP04: as many boxes as the data has are compared as a set."""
    checkout = empty.copied_to(tmp_path / "repository")
    toolkit = begun(checkout, tmp_path, source=shared / "cases/OP04/model.onnx")
    make_device(toolkit, reordered=True)
    python = make_device_python(tmp_path / "infer")
    inputs = checkout.path("pipelines/net/inputs")
    inputs.mkdir()
    fed = {name: np.load(shared / f"cases/OP04/{name}.npy") for name in ("b", "s")}
    np.savez(inputs / "case.npz", b=fed["b"], s=fed["s"])
    manifest = checkout.path("pipelines/net/manifest.yaml")
    text = re.sub(r"samples: .*", 'samples: {files: "inputs/*.npz"}', manifest.read_text())
    manifest.write_text(f"{text}infer: {{python: {python}}}\n")

    run = checkout.doit("model=net")

    assert run.code == 0, run.text
    boxes = np.load(checkout.path("build/net/infer/outputs/000000.000.npy"))
    assert boxes.tolist() == [[0, 0, 0], [0, 0, 2]]
    (check,) = json.loads(checkout.path("build/net/gate/verdict.json").read_text())[
        "checks"
    ]
    assert (check["metric"], check["value"], check["passed"]) == ("mismatch_rate", 0, True)


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


NET = """\
import torch


class Net(torch.nn.Module):
    def forward(self, x):
        return x.reshape(x.shape[0], 2, -1).mean(-1)


def build():
    return Net()
"""


def test_pytorch_model_of_gears_runs_at_each_on_a_device(
    empty: Checkout, tmp_path: Path
) -> None:
    pytest.importorskip("torch", reason="needs PyTorch (the extra [torch])")
    checkout = empty.copied_to(tmp_path / "repository")
    toolkit = begun(checkout, tmp_path, (1, 2, 8))
    make_device(toolkit)
    python = make_device_python(tmp_path / "infer")
    checkout.path("pipelines/net/model.py").write_text(NET)
    manifest = checkout.path("pipelines/net/manifest.yaml")
    gears = "  input_shape: {x: [-1, 2, -1]}\n  dynamic_dims: [[1, 8], [2, 8], [3, 24]]\n"
    text = manifest.read_text().replace("  backend: cann\n", CANN + gears)
    torch = "source: {torch: {module: model.py, factory: build}}"
    text, replaced = re.subn(r"source:(?: .*|(?:\n +.*)+)", torch, text)
    assert replaced == 1
    manifest.write_text(f"{text}infer: {{python: {python}}}\n")

    run = checkout.doit("model=net")

    assert run.code == 0, run.text
    verdict = json.loads(checkout.path("build/net/gate/verdict.json").read_text())
    assert {check["pair"] for check in verdict["checks"]} >= {"torch-onnx", "onnx-target"}
    shapes = {
        np.load(path).shape
        for path in checkout.path("build/net/infer/outputs").rglob("*.npy")
    }
    assert shapes == {(1, 2), (2, 2), (3, 2)}


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


def test_file_of_an_option_is_an_input_of_who_reads_it(
    linted: Checkout, tmp_path: Path
) -> None:
    checkout = linted.copied_to(tmp_path / "repository")
    turned(checkout, tmp_path)
    manifest = checkout.path("pipelines/net/manifest.yaml")
    kept = checkout.path("pipelines/net/keep.cfg")
    kept.write_text("OpType::Relu\n")
    option = "  keep_dtype: keep.cfg\n"
    manifest.write_text(manifest.read_text().replace("  backend: cann\n", CANN + option))

    run = checkout.doit("convert:net")

    assert run.code == 0, run.text
    document = json.loads(checkout.path("build/net/convert/conversion.json").read_text())
    conf = "--keep_dtype=options/keep_dtype.cfg"
    assert conf in document["toolchain"]["arguments"]
    assert checkout.doit("convert:net").executed == []

    kept.write_text("act\n")
    again = checkout.doit("convert:net")
    assert again.code == 0, again.text
    assert {"lint", "convert"} <= set(again.executed)

    kept.write_text("no such node\n")
    wrong = checkout.doit("convert:net")
    assert (wrong.code, wrong.has_traceback) == (2, False)
    assert "convert.keep_dtype: no node is called 'no such node'" in wrong.text


def test_refusal_is_told_with_code_and_node(linted: Checkout, tmp_path: Path) -> None:
    checkout = linted.copied_to(tmp_path / "repository")
    toolkit = turned(checkout, tmp_path)
    (toolkit / "fault").write_text("unknown operator")

    run = checkout.doit("convert:net")

    assert run.code == 2
    assert "E16002: an operator of this opset has no parser" in run.text
    assert "ONNX nodes: act" in run.text
    assert not run.has_traceback


def test_compiler_that_hangs_ends_with_its_stage(linted: Checkout, tmp_path: Path) -> None:
    checkout = linted.copied_to(tmp_path / "repository")
    toolkit = turned(checkout, tmp_path)
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
    linted: Checkout, tmp_path: Path
) -> None:
    checkout = linted.copied_to(tmp_path / "repository")
    turned(checkout, tmp_path)
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
