from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ascendflow import vocabulary
from ascendflow.errors import ManifestError, UsageError
from ascendflow.manifest.load import load_manifest

if TYPE_CHECKING:
    from tests.unit.manifest.conftest import Repository

MANIFESTS = Path(__file__).parents[2] / "manifests"
VALID = sorted(MANIFESTS.glob("valid-*.yaml"))
WRONG = sorted(set(MANIFESTS.glob("*.yaml")) - set(VALID))
SMALLEST = (MANIFESTS / "valid-smallest.yaml").read_text()
EVERYTHING = (MANIFESTS / "valid-everything.yaml").read_text()
PROBLEM = re.compile(r"pipelines/pan/manifest\.yaml:\d+: .+|  hint: .+")


@pytest.mark.parametrize("file", VALID, ids=lambda file: file.stem)
def test_valid_manifest_loads(repository: Repository, file: Path) -> None:
    loaded = repository.load(file.read_bytes())

    assert loaded.manifest.model == "pan"


def test_whole_manifest_of_the_page_about_cann_loads(repository: Repository) -> None:
    page = (MANIFESTS.parents[1] / "docs" / "cann.md").read_text()
    (whole,) = re.findall(r"```yaml\n(schema_version.*?)```", page, re.DOTALL)
    loaded = repository.load(whole)

    assert loaded.manifest.infer.host == "root@192.168.1.7"
    assert loaded.manifest.gate.outputs


@pytest.mark.parametrize("file", WRONG, ids=lambda file: file.stem)
def test_wrong_manifest_is_refused_with_the_golden_message(
    repository: Repository, file: Path
) -> None:
    with pytest.raises(ManifestError) as caught:
        repository.load(file.read_bytes())

    message = str(caught.value).replace(str(repository.path.parent), "<tmp>")
    assert message + "\n" == file.with_suffix(".txt").read_text()
    assert all(PROBLEM.fullmatch(line) for line in message.splitlines())
    assert caught.value.exit_code == 3


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"\xff\xfem\x00o\x00", id="utf-16"),
        pytest.param(b"schema_version: 1\nmodel: \x80\n", id="latin-1"),
        pytest.param(b"model: \x00", id="zero-byte"),
        pytest.param(b"model: \x07", id="bell"),
        pytest.param(b'model: "\\ud800"', id="half-a-character"),
        pytest.param(b'model: "\\U00110000"', id="beyond-unicode"),
        pytest.param(b"[" * 100_000, id="deep-flow"),
        pytest.param(b"a: " + b"[" * 300 + b"]" * 300, id="deep-closed-flow"),
        pytest.param(b"".join(b" " * i + b"a:\n" for i in range(400)), id="deep-block"),
        pytest.param(b"- " * 50_000, id="deep-block-on-one-line"),
        pytest.param(b"? " * 50_000, id="deep-keys"),
        pytest.param(b"&a " * 50_000, id="anchors-of-nothing"),
        pytest.param(b"#" * (300 * 1024), id="huge"),
        pytest.param(b"a: " + b"9" * 5000, id="number-of-5000-digits"),
        pytest.param(b"a: !!int x", id="int-that-is-none"),
        pytest.param(b"a: !!bool x", id="bool-that-is-none"),
        pytest.param(b"a: !!binary x", id="binary"),
        pytest.param(b"? {a: 1}\n: 2", id="mapping-as-key"),
        pytest.param(b"null: 1\ntrue: 2\n1.5: 3\n2001-01-01: 4", id="keys-of-all-kinds"),
        pytest.param(b"<<: *a", id="merge-of-nothing"),
        pytest.param(b"a: &x {<<: [*x]}", id="merge-of-itself"),
        pytest.param(b"a: &x\n  <<: *x", id="merge-of-its-own-mapping"),
        pytest.param(b"model: [1, \nx: {", id="unclosed"),
        pytest.param(b"\xef\xbb\xbf", id="byte-order-mark-only"),
        pytest.param(b"%TAG ! tag:x\n---\na: !b c", id="tag-directive"),
    ],
)
def test_any_bytes_give_a_manifest_error_with_file_and_line(
    repository: Repository, content: bytes
) -> None:
    with pytest.raises(ManifestError) as caught:
        repository.load(content)

    assert all(PROBLEM.fullmatch(line) for line in str(caught.value).splitlines())


@pytest.mark.parametrize("opened", ["[", "{a: ", "- "])
def test_depth_is_bounded(repository: Repository, opened: str) -> None:
    closed = {"[": "]", "{a: ": "}", "- ": ""}[opened]

    with pytest.raises(ManifestError) as shallow:
        repository.load(f"{opened * 40}x{closed * 40}")
    with pytest.raises(ManifestError, match="is nested too deeply"):
        repository.load(f"{opened * 60}x{closed * 60}")

    assert "nested" not in str(shallow.value)


def test_nested_aliases_do_not_multiply(repository: Repository) -> None:
    bomb = "a: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"b{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 12)
    )

    with pytest.raises(ManifestError, match="holds more than 20000 values"):
        repository.load(bomb)


def test_anchor_that_is_set_again_is_no_warning(repository: Repository) -> None:
    twice = SMALLEST.replace("count: 2", "count: &n 2").replace(
        "model: pan", "model: &n pan"
    )

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loaded = repository.load(twice)

    assert loaded.manifest.model == "pan"


def test_end_metric_without_a_direction_is_refused(repository: Repository) -> None:
    """IO07."""
    undirected = EVERYTHING.replace(", direction: higher}", "}", 1)
    with pytest.raises(ManifestError, match=r"evaluate\.direction is missing"):
        repository.load(undirected)


def test_byte_order_mark_and_windows_line_ends_are_accepted(repository: Repository) -> None:
    content = b"\xef\xbb\xbf" + SMALLEST.replace("\n", "\r\n").encode()

    assert repository.load(content).manifest.model == "pan"


def test_merge_of_text_is_told_where_it_is_merged_not_where_the_text_is(
    repository: Repository,
) -> None:
    wrong = SMALLEST.replace("model: pan", "model: &m pan") + "infer:\n  <<: *m\n"
    line = wrong.splitlines().index("  <<: *m") + 1

    with pytest.raises(
        ManifestError, match=rf"yaml:{line}: infer merges what is no mapping"
    ):
        repository.load(wrong)


def test_names_that_are_proposed_stay_on_their_line(repository: Repository) -> None:
    wrong = SMALLEST.replace("name: image", r'name: "a\n\e[31m"').replace(
        "count: 2", "count: 2, ranges: {image: [0, 1]}"
    )

    with pytest.raises(ManifestError) as caught:
        repository.load(wrong)

    message = str(caught.value)
    assert r"hint: known here: a\n\x1b[31m" in message
    assert all(PROBLEM.fullmatch(line) for line in message.splitlines())


def test_missing_manifest_is_an_error_with_a_hint(repository: Repository) -> None:
    file = repository.folder / "manifest.yaml"

    with pytest.raises(ManifestError, match="cannot be read") as caught:
        load_manifest(file, repository=repository.path, roots={})

    assert "ascendflow init" in (caught.value.hint or "")


def test_folder_in_place_of_a_manifest_is_an_error(repository: Repository) -> None:
    file = repository.folder / "manifest.yaml"
    file.mkdir()

    with pytest.raises(ManifestError, match="is no file"):
        load_manifest(file, repository=repository.path, roots={})


def test_files_are_given_by_stage_and_role(repository: Repository) -> None:
    loaded = repository.load(EVERYTHING)

    weights = (repository.data / "weights.pt").resolve()
    assert loaded.files == {"export": {"weights": weights}, "golden": {"weights": weights}}
    assert repository.load(SMALLEST).files == {
        "export": {"source": (repository.folder / "det.onnx").resolve()}
    }


def test_overrides_replace_the_target_only(repository: Repository) -> None:
    plain = repository.load(EVERYTHING).manifest
    other = repository.load(EVERYTHING, soc="Ascend310B1", precision="force_fp32").manifest

    assert other.convert.soc_version == "Ascend310B1"
    assert other.convert.precision_mode == "force_fp32"
    assert other.model_copy(update={"convert": plain.convert}) == plain


def test_a_mode_may_be_spelled_as_precision_mode_v2(repository: Repository) -> None:
    other = repository.load(EVERYTHING, precision="origin").manifest

    assert other.convert.precision == "must_keep_origin_dtype"


@pytest.mark.parametrize(
    ("override", "hint"),
    [
        pytest.param({"soc": "Ascend310P33"}, "did you mean 'Ascend310P3'?", id="soc"),
        pytest.param(
            {"precision": "force_fp61"}, "did you mean 'force_fp16'?", id="precision"
        ),
        pytest.param({"soc": ""}, "known here: Ascend310, ", id="empty-soc"),
    ],
)
def test_unknown_override_is_refused_with_a_suggestion(
    repository: Repository, override: dict[str, str], hint: str
) -> None:
    with pytest.raises(UsageError, match="is not a known") as caught:
        repository.load(SMALLEST, **override)

    assert hint in (caught.value.hint or "")
    assert caught.value.exit_code == 3


def test_both_overrides_that_are_wrong_are_refused_at_once(repository: Repository) -> None:
    with pytest.raises(UsageError) as caught:
        repository.load(SMALLEST, soc="Ascend310P3,Ascend310B1", precision="half")

    soc, hint, precision, _ = str(caught.value).splitlines()
    assert soc == "soc=Ascend310P3,Ascend310B1 is not a known soc_version"
    assert (
        hint == "  hint: it takes one; run once for each, every one has a folder of its own"
    )
    assert precision == "precision=half is not a known precision_mode"


def test_soc_that_only_the_installed_atc_knows_may_be_asked_of_it(
    repository: Repository,
) -> None:
    folders = ", backend: cann, toolkit: /cann, python: /usr/bin/python3"
    built = SMALLEST.replace(
        "soc_version: Ascend310P3", f"soc_version: Ascend310P3{folders}"
    )
    assert built != SMALLEST

    asked = repository.load(built, soc="Ascend950PR").manifest.convert.soc_version

    assert asked == "Ascend950PR"
    with pytest.raises(UsageError, match="soc=Ascend310P3,Ascend310B1 is not a known"):
        repository.load(built, soc="Ascend310P3,Ascend310B1")
    with pytest.raises(UsageError, match="soc=Ascend950PR is not a known"):
        repository.load(SMALLEST, soc="Ascend950PR")


def test_command_line_may_name_a_soc_that_only_the_toolkit_knows(
    repository: Repository,
) -> None:
    cann = "backend: cann, toolkit: /usr/local/Ascend/latest, python: /usr/bin/python3"
    real = SMALLEST.replace("soc_version:", f"{cann}, soc_version:")

    loaded = repository.load(real, soc="Ascend950PR_9599")
    assert loaded.manifest.convert.soc_version == "Ascend950PR_9599"
    for soc in ("Ascend950 PR", "a,b"):
        with pytest.raises(UsageError, match="is not a known soc_version"):
            repository.load(real, soc=soc)


def test_link_out_of_the_repository_is_refused(repository: Repository) -> None:
    outside = repository.path.parent / "outside.onnx"
    outside.touch()
    (repository.folder / "linked.onnx").symlink_to(outside)

    with pytest.raises(ManifestError, match=r"source\.onnx leads out of the repository"):
        repository.load(SMALLEST.replace("det.onnx", "linked.onnx"))


def test_loop_of_links_is_refused(repository: Repository) -> None:
    (repository.folder / "loop.onnx").symlink_to("loop.onnx")

    with pytest.raises(ManifestError, match=r"source\.onnx"):
        repository.load(SMALLEST.replace("det.onnx", "loop.onnx"))


def test_file_name_that_no_system_takes_is_refused(repository: Repository) -> None:
    with pytest.raises(ManifestError, match=r"yaml:3: source\.onnx cannot be looked at"):
        repository.load(SMALLEST.replace("det.onnx", f"{'a' * 300}.onnx"))


def test_integer_beyond_every_float_is_no_finite_number(repository: Repository) -> None:
    huge = SMALLEST.replace("count: 2", f"count: 2, ranges: {{image: [0, 1{'0' * 400}]}}")

    with pytest.raises(ManifestError, match=r"ranges\.image\[1\] must be a finite number"):
        repository.load(huge)


def test_file_elsewhere_in_the_repository_is_accepted(repository: Repository) -> None:
    (repository.path / "shared.onnx").touch()

    loaded = repository.load(SMALLEST.replace("det.onnx", "../../shared.onnx"))

    assert loaded.files["export"]["source"].name == "shared.onnx"


@pytest.mark.parametrize("name", [*vocabulary.STAGES, *vocabulary.COMMANDS])
def test_no_model_is_named_like_a_stage_or_a_command(
    repository: Repository, name: str
) -> None:
    with pytest.raises(ManifestError, match="model must not be the name of"):
        repository.load(SMALLEST.replace("model: pan", f"model: {name}"))


def test_commands_hold_all_of_doit() -> None:
    from doit.doit_cmd import DoitMain

    assert {command.get_name() for command in DoitMain.DOIT_CMDS} <= set(
        vocabulary.COMMANDS
    )
