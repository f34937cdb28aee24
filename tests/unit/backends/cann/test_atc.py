"""ATC itself is a stand-in, written from the contract and importing nothing of ours."""

from __future__ import annotations

import os
import sys
import tempfile
import zipfile
from typing import TYPE_CHECKING, Any

import onnx
import pytest
from onnx import TensorProto, helper

from ascendflow import process
from ascendflow.backends.cann import atc
from ascendflow.errors import StageError, ToolFailedError
from tests.toolkits import config, make_python, make_toolkit

if TYPE_CHECKING:
    from pathlib import Path


class Place:
    """A model, a toolkit and a python."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.model = folder / "out" / "model"
        self.python = make_python(folder / "py")
        (folder / "in").mkdir()
        (folder / "out").mkdir()
        self.onnx = folder / "in" / "model.onnx"
        self.write([1, 4])

    def write(self, shape: list[int | str]) -> None:
        """Write the model, of inputs of this shape."""
        x, y = (
            helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in "xy"
        )
        node = helper.make_node("Relu", ["x"], ["y"], name="/tome1/Relu")
        onnx.save(helper.make_model(helper.make_graph([node], "g", [x], [y])), self.onnx)

    def build(self, files: dict[str, Path] | None = None, **options: Any) -> atc.Built:
        said = {key: options.pop(key) for key in ("fault", "format") if key in options}
        toolkit = make_toolkit(self.folder / "cann", **said)
        given = config(toolkit, self.python) | {"cann": options.pop("cann", "8.1")}
        given["keep_dtype"] = options.pop("keep_dtype", [])
        given |= options.pop("shared", {})
        given["options"] |= {key: options[key] for key in options.keys() - given.keys()}
        return atc.build(self.onnx, self.model, given, files or {})


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_model_is_made_and_nothing_else_stays(place: Place) -> None:
    built = place.build()

    assert [path.name for path in place.model.iterdir()] == ["model.om"]
    assert [path.name for path in place.model.parent.iterdir()] == ["model"]
    assert built.toolkit.version == "8.1.RC1"
    assert built.interpreter.numpy == "1.26.4"


def test_command_that_the_model_records_has_no_path_of_this_machine(place: Place) -> None:
    built = place.build()

    recorded = (place.model / "model.om").read_bytes()
    assert " ".join(built.arguments).encode() in recorded
    assert not any(str(place.folder) in argument for argument in built.arguments)


def test_same_build_gives_the_same_bytes(tmp_path: Path) -> None:
    toolkit = make_toolkit(tmp_path / "cann")
    made = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        place = Place(tmp_path / name)
        atc.build(place.onnx, place.model, config(toolkit, place.python), {})
        made.append((place.model / "model.om").read_bytes())

    assert made[0] == made[1]


def test_kernels_in_another_order_are_told_by_the_raw_digest_alone(
    tmp_path: Path,
) -> None:
    digests = []
    for name, fault in (("a", "none"), ("b", "reordered kernels")):
        (tmp_path / name).mkdir()
        om = Place(tmp_path / name).build(fault=fault).om
        digests.append((om["sha256"], om["normalised_sha256"]))

    assert digests[0][0] != digests[1][0]
    assert digests[0][1] == digests[1][1]


def test_weights_beside_the_model_belong_to_it(place: Place) -> None:
    place.build(external_weight=1)

    made = sorted(path.name for path in place.model.rglob("*") if path.is_file())
    assert made == ["model.om", "weight_0f"]


def test_gears_and_files_reach_atc(place: Place) -> None:
    aipp = place.folder / "aipp cfg.prototxt"
    aipp.write_text("aipp_op {}")

    built = place.build(
        files={"insert_op_conf": aipp},
        keep_dtype=["/tome1/Relu"],
        input_shape={"x": [-1, 4]},
        dynamic_batch_size=[1, 2],
        oo_constant_folding=False,
    )

    assert "--oo_constant_folding=false" in built.arguments
    assert "--insert_op_conf=options/insert_op_conf.prototxt" in built.arguments
    assert "--keep_dtype=options/keep_dtype.cfg" in built.arguments
    assert "--dynamic_batch_size=1,2" in built.arguments
    assert [path.name for path in place.model.iterdir()] == ["model.om"]


def test_bank_of_tuned_operators_is_unpacked_for_atc(
    place: Place, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    bank = tmp_path / "bank.zip"
    with zipfile.ZipFile(bank, "w") as archive:
        archive.writestr("Ascend310P3/Conv2D.json", "{}")
    toolkit = make_toolkit(tmp_path / "other")
    (toolkit / "bin" / "atc").write_text("#!/bin/sh\nfind options\nexit 255\n")
    given = config(toolkit, place.python, op_bank_path="bank.zip")

    with pytest.raises(ToolFailedError):
        atc.build(place.onnx, place.model, given, {"op_bank_path": bank})
    assert "options/op_bank_path/Ascend310P3/Conv2D.json" in capfd.readouterr().out

    built = place.build(files={"op_bank_path": bank}, op_bank_path="bank.zip")
    assert "--op_bank_path=options/op_bank_path" in built.arguments


def test_bank_that_is_no_zip_is_refused(place: Place) -> None:
    folder = place.folder / "bank"
    folder.write_text("{}")

    with pytest.raises(StageError, match=r"convert\.op_bank_path: bank is no ZIP file"):
        place.build(files={"op_bank_path": folder})


@pytest.mark.parametrize(
    "gears",
    [
        {"input_shape": {"x": [-1, -1]}, "dynamic_dims": [[1, 4], [2, 8]]},
        {"input_shape": {"x": [1, 3, -1, -1]}, "dynamic_image_size": [[4, 4], [8, 8]]},
        {"input_shape": {"x": [-1, 4]}, "dynamic_batch_size": [1, 2, 4]},
    ],
)
def test_model_of_gears_is_named_like_a_static_one(
    place: Place, gears: dict[str, Any]
) -> None:
    place.write(gears["input_shape"]["x"])
    place.build(**gears)

    assert [path.name for path in place.model.iterdir()] == ["model.om"]


def test_dynamic_model_is_named_after_its_host(place: Place) -> None:
    place.build(
        dynamic_shape=True,
        input_shape={"x": [-1, 4]},
        host_env_os="linux",
        host_env_cpu="aarch64",
    )

    assert [path.name for path in place.model.iterdir()] == ["model_linux_aarch64.om"]


@pytest.mark.parametrize("form", ["old", "new"])
def test_refused_model_names_code_and_node(place: Place, form: str) -> None:
    with pytest.raises(ToolFailedError) as caught:
        place.build(fault="unknown operator", format=form)

    assert caught.value.message == (
        "convert: atc refused the model: "
        "E16002: an operator of this opset has no parser\n"
        "  it says: No ONNX parser is registered for optype ai.onnx::13::Relu.\n"
        "  ONNX nodes: /tome1/Relu"
    )
    assert "Try again with a valid argument." in str(caught.value.hint)


@pytest.mark.parametrize(
    ("fault", "match"),
    [
        ("cut short", r"model\.om: cut short: the header says \d+ bytes"),
        ("damaged", r"and model\.om: .* \(byte \d+ of \d+\)"),
        ("another compiler", r"atc_version '7\.6\.0', and the toolkit's compiler is '7\.7"),
        (
            "another soc",
            "soc_version 'Ascend310', and convert.soc_version is 'Ascend310P3'",
        ),
        ("no file", "left no model"),
        ("failure line", "E19999: an error inside the graph engine"),
        ("inner", "E19999: an error inside the graph engine"),
        ("kernel", r"E40021: a kernel cannot be compiled(.|\n)*ONNX nodes: /tome1/Relu\n"),
        ("silent 255", "failed with status 255 and gave no reason"),
        ("SIGKILL", "was killed by SIGKILL"),
        ("137", "was killed by SIGKILL"),
        ("python 3.13", r"Python 3\.13 or later"),  # EV01
        ("numpy 2", r"has numpy 2(.|\n)*np\.float_"),  # EV02
        ("SIGSEGV", "was killed by SIGSEGV"),
    ],
)
def test_faults_of_the_compiler_leave_no_model(
    place: Place, fault: str, match: str
) -> None:
    with pytest.raises(ToolFailedError, match=match):
        place.build(fault=fault)

    assert not place.model.exists()


def test_hung_compiler_tells_its_last_line_and_can_be_ended(
    place: Place, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def tail_and_end(log: Path, lines: int) -> str:
        said = process.tail(log, lines)
        if "still compiling" in said:
            process.end_all()
        return said

    monkeypatch.setattr(atc, "HEARTBEAT_S", 0.1)
    monkeypatch.setattr(atc, "tail", tail_and_end)
    with pytest.raises(ToolFailedError, match="atc interrupted"):
        place.build(fault="hang")

    assert "s: still compiling" in capfd.readouterr().out


@pytest.mark.parametrize("temporary", ["tmp", "t m p"])
def test_folder_that_atc_would_refuse_is_left_for_a_temporary_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, temporary: str
) -> None:
    (tmp_path / temporary).mkdir()
    (tmp_path / "仓库 v1").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / temporary))
    place = Place(tmp_path / "仓库 v1")
    toolkit = make_toolkit(tmp_path / "cann")
    given = config(toolkit, make_python(tmp_path / "py"))

    if " " in temporary:
        with pytest.raises(StageError, match=r"ATC refuses paths such as .*E10001"):
            atc.build(place.onnx, place.model, given, {})
    else:
        atc.build(place.onnx, place.model, given, {})
        assert (place.model / "model.om").is_file()
    assert list((tmp_path / temporary).iterdir()) == []


def test_folder_with_a_models_suffix_in_its_name_is_left_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ATC puts the host's name before the first '.om' of the whole path."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "my.omega").mkdir()
    place = Place(tmp_path / "my.omega")
    given = config(
        make_toolkit(tmp_path / "cann"),
        make_python(tmp_path / "py"),
        dynamic_shape=True,
        input_shape={"x": [-1, 4]},
    )

    built = atc.build(place.onnx, place.model, given, {})

    assert [path.name for path in place.model.iterdir()] == ["model_linux_x86_64.om"]
    assert "my.omega" not in str(built.om["atc_cmdline"])


def test_atc_has_a_home_of_its_own(
    place: Place,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Tuned kernels and caches in the user's home are in no key."""
    monkeypatch.setenv("HOME", "/home/me")
    toolkit = make_toolkit(tmp_path / "other")
    command = '#!/bin/sh\necho "$HOME holds $(ls -A $HOME | wc -l)"\nexit 255\n'
    (toolkit / "bin" / "atc").write_text(command)

    with pytest.raises(ToolFailedError, match="gave no reason"):
        atc.build(place.onnx, place.model, config(toolkit, place.python), {})

    assert f"{place.model.with_name('atc')}/home holds 0" in capfd.readouterr().out


def test_long_log_is_read_at_both_ends(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(atc, "LONGEST_LOG", 60)
    log = place.folder / "atc.log"
    log.write_bytes(b"E10001: first\n" + b"x" * 1000 + b"\nlast line\n")

    text = atc._read(log)

    assert text.startswith("E10001: first\n")
    assert text.endswith("\nlast line\n")
    log.write_bytes(b"short \xff\n")
    assert atc._read(log) == "short \ufffd\n"


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"optypelist_for_implmode": ["Gelu"]}, "E10001"),
        ({"modify_mixlist": {"white": ["Exp"]}}, "E10001"),
        ({"enable_compress_weight": True, "compress_weight_conf": "a"}, "E10047"),
        ({"output_type": {"/tome1/Relu:0": "FP16"}}, "E10001"),
        ({"mode": 30}, "E10055"),
    ],
)
def test_what_the_manifest_would_have_refused_atc_refuses_too(
    place: Place, options: dict[str, Any], code: str
) -> None:
    place.folder.joinpath("a").touch()
    files = {key: place.folder / "a" for key, value in options.items() if value == "a"}
    shared = {
        key: options[key]
        for key in ("optypelist_for_implmode", "modify_mixlist")
        if key in options
    }

    with pytest.raises(ToolFailedError, match=f"atc refused the model: {code}"):
        place.build(files=files, shared=shared, **options)


def test_option_that_this_atc_has_not_is_told(place: Place) -> None:
    with pytest.raises(ToolFailedError, match="has no option jit_compile"):
        place.build(jit_compile=1)


def test_other_release_is_refused_before_anything_runs(place: Place) -> None:
    with pytest.raises(StageError, match=r"convert\.cann is '8\.5', and .* CANN 8\.1\.RC1"):
        place.build(cann="8.5")


def test_soc_that_the_toolkit_does_not_list_is_refused(tmp_path: Path) -> None:
    place = Place(tmp_path)
    toolkit = make_toolkit(tmp_path / "cann")
    listed = toolkit / "data" / "platform_config"
    listed.mkdir(parents=True)
    (listed / "Ascend310P1.ini").touch()
    given = config(toolkit, place.python)

    with pytest.raises(StageError, match=r"soc_version is 'Ascend310P3', .* not list it"):
        atc.build(place.onnx, place.model, given, {})

    newer = given | {"soc_version": "Ascend950PR_9599"}
    (listed / "Ascend950PR_9599.ini").touch()
    assert atc.build(place.onnx, place.model, newer, {}).om["soc_version"] == (
        "Ascend950PR_9599"
    )


def test_python_of_ascendflow_is_refused(place: Place) -> None:
    place.python.unlink()
    place.python.write_text(
        f'#!/bin/sh\nPYTHONPATH={os.getcwd()} exec {sys.executable} "$@"\n'
    )
    place.python.chmod(0o755)

    with pytest.raises(StageError, match=r"convert\.python is ascendflow's own"):
        place.build()


def test_python_without_numpy_is_refused(place: Place) -> None:
    (place.folder / "py" / "site" / "numpy" / "__init__.py").write_text("raise ImportError")

    with pytest.raises(StageError, match="has no numpy") as told:
        place.build()
    # CANN 8.1's guide: Python up to 3.11, numpy from 1.19.2 and below 1.25.
    assert told.value.hint is not None
    assert told.value.hint.endswith("-m pip install 'numpy>=1.19.2,<1.25'")
    too_new = sys.version_info >= (3, 12)
    where = "in a Python up to 3.11" if too_new else str(place.python)
    assert told.value.hint.startswith(where)


def test_python_that_does_not_run_is_refused(place: Place) -> None:
    place.python.write_text("#!/bin/sh\necho broken; exit 3\n")

    with pytest.raises(StageError, match="does not run in ATC's environment: broken"):
        place.build()
