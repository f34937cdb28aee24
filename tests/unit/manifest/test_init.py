from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from onnx import TensorProto, helper

from ascendflow.errors import UsageError
from ascendflow.manifest import schema
from ascendflow.manifest.init import initialise, parse_shapes
from ascendflow.manifest.load import LoadedManifest, load_manifest
from ascendflow.manifest.paths import read_roots
from ascendflow.tasks.commands import COMMANDS
from tests.unit.manifest import models

if TYPE_CHECKING:
    from collections.abc import Mapping


@pytest.fixture
def here(tmp_path: Path) -> Path:
    (tmp_path / "repository").mkdir()
    return tmp_path / "repository"


@pytest.fixture
def onnx(tmp_path: Path) -> Path:
    return models.identity(tmp_path / "downloads" / "det.onnx", {"x": [1, 3, 8, 8]})


def loaded(here: Path, model: str) -> LoadedManifest:
    manifest = here / "pipelines" / model / "manifest.yaml"
    return load_manifest(manifest, repository=here, roots=read_roots(here))


def contents(folder: Path) -> Mapping[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def test_empty_repository_gets_all_that_doit_needs(here: Path, onnx: Path) -> None:
    done = initialise("det", repository=here, commands=COMMANDS, onnx=onnx)

    assert done.created == (
        "dodo.py",
        "pipelines/det/det.onnx",
        "pipelines/det/manifest.yaml",
        "schemas/manifest.schema.json",
    )
    assert done.edited == (".gitignore", "pyproject.toml")
    assert done.notes == ()
    assert "from ascendflow.tasks import DOIT_CONFIG" in (here / "dodo.py").read_text()
    commands = tomllib.loads((here / "pyproject.toml").read_text())["tool"]["doit"][
        "plugins"
    ]
    assert commands["command"]["init"] == "ascendflow.tasks.commands.init:Init"
    assert (here / "schemas/manifest.schema.json").read_text() == schema.read("manifest")
    assert (here / "pipelines/det/det.onnx").read_bytes() == onnx.read_bytes()


def test_manifest_of_an_onnx_file_loads_and_holds_its_inputs(
    here: Path, tmp_path: Path
) -> None:
    values = [
        helper.make_tensor_value_info("image", TensorProto.FLOAT16, ["n", 3, "h", "w"]),
        helper.make_tensor_value_info("token ids", TensorProto.INT64, [1, 16]),
        helper.make_tensor_value_info("no", TensorProto.BOOL, []),
    ]
    resize = helper.make_node("Resize", ["image"], ["y"])
    onnx = models.save(tmp_path / "two words.onnx", values, [resize])

    initialise(
        "det", repository=here, commands=COMMANDS, onnx=onnx, shapes=["image:1,3,480,640"]
    )

    manifest = loaded(here, "det").manifest
    assert [(i.name, i.dtype, i.shape) for i in manifest.inputs] == [
        ("image", "float16", (1, 3, 480, 640)),
        ("token ids", "int64", (1, 16)),
        ("no", "bool", ()),
    ]
    assert manifest.source.onnx == "two words.onnx"
    assert manifest.samples.random is not None
    assert manifest.samples.random.ranges == {"token ids": (0, 2)}
    assert [rule.name for rule in manifest.rewrite.rules] == ["auto"]
    first = (here / "pipelines/det/manifest.yaml").read_text().splitlines()[0]
    assert first == "# yaml-language-server: $schema=../../schemas/manifest.schema.json"


def test_manifest_of_an_onnx_file_says_how_labels_are_named(here: Path, onnx: Path) -> None:
    initialise("det", repository=here, commands=COMMANDS, onnx=onnx)

    text = (here / "pipelines/det/manifest.yaml").read_text()
    assert "label.mask" in text


def test_integers_end_where_the_table_does_that_they_look_up(
    here: Path, tmp_path: Path
) -> None:
    """The shortest of the tables counts; an input that looks up none is a guess."""
    names = ("ids", "kind", "mask")
    values = [helper.make_tensor_value_info(n, TensorProto.INT64, [1, 4]) for n in names]
    values.append(helper.make_tensor_value_info("byte", TensorProto.UINT8, [1, 4]))
    tables = [
        helper.make_tensor(name, TensorProto.FLOAT, shape, np.zeros(shape).ravel())
        for name, shape in (("words", (500, 2)), ("places", (2, 300)), ("many", (999, 1)))
    ]
    kinds = helper.make_tensor("kinds", TensorProto.FLOAT, (3, 2), np.zeros(6))
    nodes = [
        helper.make_node("Unsqueeze", ["ids", "axes"], ["more"]),
        helper.make_node("Cast", ["more"], ["same"], to=TensorProto.INT32),
        helper.make_node("Gather", ["words", "same"], ["a"]),
        helper.make_node("Gather", ["places", "ids"], ["b"], axis=-1),
        helper.make_node("Gather", ["many", "byte"], ["c"]),
        helper.make_node("Constant", [], ["k"], value=kinds),
        helper.make_node("Gather", ["k", "kind"], ["d"]),
        helper.make_node("Sub", ["mask", "one"], ["less"]),
        helper.make_node("Gather", ["words", "less"], ["e"]),
    ]
    onnx = models.save(tmp_path / "bert.onnx", values, nodes, tables)

    initialise("bert", repository=here, commands=COMMANDS, onnx=onnx)

    random = loaded(here, "bert").manifest.samples.random
    assert random is not None
    assert random.ranges == {
        "ids": (0, 300),
        "kind": (0, 3),
        "mask": (0, 2),
        "byte": (0, 256),
    }
    text = (here / "pipelines/bert/manifest.yaml").read_text()
    assert "# [0, 2) is a placeholder, for mask: write your vocabulary's size\n" in text


def test_second_model_touches_nothing_of_the_first(here: Path, onnx: Path) -> None:
    initialise("det", repository=here, commands=COMMANDS, onnx=onnx)
    before = contents(here)

    done = initialise("seg", repository=here, commands=COMMANDS, onnx=onnx)

    assert done.created == ("pipelines/seg/det.onnx", "pipelines/seg/manifest.yaml")
    assert done.edited == ()
    after = contents(here)
    assert {name: after[name] for name in before} == before


def test_external_data_is_copied_with_its_folders(here: Path, tmp_path: Path) -> None:
    onnx = models.with_external(tmp_path / "big" / "m.onnx", "parts/w.bin")
    (tmp_path / "big" / "parts").mkdir()
    (tmp_path / "big" / "parts" / "w.bin").write_bytes(b"0123456789abcdef")

    initialise("big", repository=here, commands=COMMANDS, onnx=onnx)

    assert (here / "pipelines/big/parts/w.bin").read_bytes() == b"0123456789abcdef"


@pytest.mark.parametrize("location", ["manifest.yaml", "m.onnx"])
def test_external_data_that_would_be_another_file_is_refused(
    here: Path, tmp_path: Path, location: str
) -> None:
    onnx = models.with_external(tmp_path / "big" / "m.onnx", location)
    (tmp_path / "big" / location).touch()

    with pytest.raises(UsageError, match=location):
        initialise("big", repository=here, commands=COMMANDS, onnx=onnx)

    assert contents(here) == {}


def test_linked_file_is_referred_to_through_a_new_root(here: Path, onnx: Path) -> None:
    done = initialise("det", repository=here, commands=COMMANDS, onnx=onnx, link=True)

    assert "pipelines/det/det.onnx" not in done.created
    assert read_roots(here) == {"downloads": onnx.parent}
    assert loaded(here, "det").manifest.source.onnx == "downloads:det.onnx"
    assert loaded(here, "det").files == {"export": {"source": onnx.resolve()}}


def test_linked_file_uses_a_root_that_holds_it_already(here: Path, onnx: Path) -> None:
    text = '[tool.ascendflow.roots]\nall = "../"\n'
    (here / "pyproject.toml").write_text(text)

    initialise("det", repository=here, commands=COMMANDS, onnx=onnx, link=True)

    assert loaded(here, "det").manifest.source.onnx == "all:downloads/det.onnx"
    assert (here / "pyproject.toml").read_text().startswith(text)


def test_root_of_the_same_name_gets_a_neighbour(here: Path, onnx: Path) -> None:
    (here / "pyproject.toml").write_text(
        '[tool.ascendflow.roots]\ndownloads = "/elsewhere"\n'
    )

    initialise("det", repository=here, commands=COMMANDS, onnx=onnx, link=True)

    assert loaded(here, "det").manifest.source.onnx == "downloads-2:det.onnx"
    assert read_roots(here)["downloads"] == Path("/elsewhere")


def test_linked_file_in_the_repository_needs_no_root(here: Path) -> None:
    onnx = models.identity(here / "models" / "det.onnx", {"x": [1]})

    initialise("det", repository=here, commands=COMMANDS, onnx=onnx, link=True)

    assert loaded(here, "det").manifest.source.onnx == "../../models/det.onnx"
    assert read_roots(here) == {}


def test_file_that_lies_in_the_new_folder_already_is_used_as_it_is(here: Path) -> None:
    onnx = models.identity(here / "pipelines" / "det" / "det.onnx", {"x": [1]})

    done = initialise("det", repository=here, commands=COMMANDS, onnx=onnx)

    assert "pipelines/det/det.onnx" not in done.created
    assert loaded(here, "det").files["export"]["source"] == onnx.resolve()


def test_existing_pipeline_is_left_alone(here: Path, onnx: Path) -> None:
    initialise("det", repository=here, commands=COMMANDS, onnx=onnx)
    before = contents(here)

    with pytest.raises(UsageError, match=r"pipelines/det/manifest\.yaml exists"):
        initialise("det", repository=here, commands=COMMANDS)
    with pytest.raises(UsageError) as again:
        initialise("det", repository=here, commands=COMMANDS, onnx=onnx)

    assert again.value.hint is not None
    assert again.value.hint.endswith("exported anew: copy it into pipelines/det/")
    assert contents(here) == before


def test_existing_file_is_named_and_nothing_is_written(here: Path) -> None:
    (here / "pipelines" / "new").mkdir(parents=True)
    (here / "pipelines" / "new" / "model.py").write_text("mine\n")

    with pytest.raises(UsageError, match=r"pipelines/new/model\.py exists"):
        initialise("new", repository=here, commands=COMMANDS)

    assert contents(here) == {"pipelines/new/model.py": b"mine\n"}


def test_users_own_dodo_and_schema_are_left_with_a_note(here: Path, onnx: Path) -> None:
    (here / "dodo.py").write_text("def task_x(): ...\n")
    (here / "schemas").mkdir()
    (here / "schemas" / "manifest.schema.json").write_text("{}\n")

    done = initialise("det", repository=here, commands=COMMANDS, onnx=onnx)

    assert (here / "dodo.py").read_text() == "def task_x(): ...\n"
    assert (here / "schemas" / "manifest.schema.json").read_text() == "{}\n"
    assert [note.split(" exists")[0] for note in done.notes] == [
        "dodo.py",
        "schemas/manifest.schema.json",
    ]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param({"model": "a/b"}, "the model's name must be", id="name-no-folder"),
        pytest.param({"model": ".."}, "the model's name must be", id="name-goes-up"),
        pytest.param({"model": "list"}, "must not be the name of a command", id="command"),
        pytest.param({"model": "export"}, "must not be the name of a stage", id="stage"),
        pytest.param({"model": "det", "link": True}, "go with --onnx", id="link-alone"),
        pytest.param(
            {"model": "det", "shapes": ["x:1"]}, "go with --onnx", id="shape-alone"
        ),
    ],
)
def test_command_that_cannot_be_writes_nothing(
    here: Path, arguments: dict[str, Any], said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        initialise(**arguments, repository=here, commands=COMMANDS)

    assert contents(here) == {}


def test_input_name_that_atc_cannot_take_is_refused_before_anything_is_written(
    here: Path, tmp_path: Path
) -> None:
    """GR14."""
    onnx = models.identity(tmp_path / "tf.onnx", {"images:0": [1]})

    with pytest.raises(
        UsageError, match=r"an input's name must be free of .* got 'images:0'"
    ):
        initialise("tf", repository=here, commands=COMMANDS, onnx=onnx)

    assert contents(here) == {}


def test_file_that_cannot_be_copied_leaves_nothing_behind(
    here: Path, onnx: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("shutil.copyfileobj", fail)

    with pytest.raises(UsageError, match="No space left on device"):
        initialise("det", repository=here, commands=COMMANDS, onnx=onnx)

    assert contents(here) == {}


@pytest.mark.parametrize(
    ("text", "parsed"),
    [
        ("image:1,3,480,640", {"image": (1, 3, 480, 640)}),
        ("images:0:1,2", {"images:0": (1, 2)}),
        ("scalar:", {"scalar": ()}),
        ("boxes:0,4", {"boxes": (0, 4)}),
        ("image:[1,3,480,640]", {"image": (1, 3, 480, 640)}),  # Polygraphy
    ],
)
def test_shape_is_read_as_atc_and_others_spell_it(
    text: str, parsed: dict[str, tuple[int, ...]]
) -> None:
    assert parse_shapes([text]) == parsed


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (["image"], "must be name:size"),
        (["image:1;3"], "must be name:size"),
        (["image:1,,3"], "must be name:size"),
        (["image:a"], "must be name:size"),
        (["image:[1,3"], "must be name:size"),
        (["image:-1,3"], "0 or more"),
        (["x:1", "x:2"], "'x' is given twice"),
    ],
)
def test_shape_that_is_none_is_refused(texts: list[str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        parse_shapes(texts)


@pytest.mark.parametrize("opset", [7, 19, 20])
def test_an_opset_that_the_target_does_not_parse_is_refused(
    here: Path, tmp_path: Path, opset: int
) -> None:
    """Opset 20 is what current exporters write unasked."""
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1])
    relu = helper.make_node("Relu", ["x"], ["y"])
    file = models.save(tmp_path / "det.onnx", [x], [relu], opset=opset)

    with pytest.raises(UsageError) as caught:
        initialise("det", repository=here, commands=COMMANDS, onnx=file)

    said = f"is written in opset {opset}, and CANN 8.1 parses opsets 8 to 18"
    assert said in caught.value.message
    hint = "export again with opset 15, which every release parses (or 18 for CANN 8.5 "
    assert (caught.value.hint or "").startswith(hint)
    assert contents(here) == {}


@pytest.mark.parametrize("opset", [8, 15, 18])
def test_one_that_it_may_parse_is_not(here: Path, tmp_path: Path, opset: int) -> None:
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1])
    relu = helper.make_node("Relu", ["x"], ["y"])
    file = models.save(tmp_path / "det.onnx", [x], [relu], opset=opset)

    assert initialise("det", repository=here, commands=COMMANDS, onnx=file).created
