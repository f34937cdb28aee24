from __future__ import annotations

from io import BytesIO
from struct import pack
from typing import TYPE_CHECKING, Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import numpy as np
import pytest

from ascendflow.errors import StageError
from ascendflow.tensors import TensorSet, TensorSpec
from tests.stage_runs import Pipeline, pipeline

if TYPE_CHECKING:
    from pathlib import Path

IMAGE = TensorSpec("image", "uint8", (1, 2, 2))
SCALE = TensorSpec("scale", "float32", ())
MODULE = {"module": "data.py", "factory": "make"}


def factory(tmp_path: Path, body: str) -> Pipeline:
    """Make a pipeline whose data.py defines make(), with these statements in it."""
    made = pipeline(tmp_path, [IMAGE, SCALE])
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    text = (
        "import numpy as np\n"
        "GOOD = {'image': np.ones((1, 2, 2), np.uint8), 'scale': np.array(2, np.float32)}\n"
        f"def make(count=2):\n{lines}"
    )
    (made.folder / "data.py").write_text(text)
    return made


def refusal(made: Pipeline, **source: Any) -> str:
    return refused(made, **source).message


def refused(made: Pipeline, **source: Any) -> StageError:
    with pytest.raises(StageError) as caught:
        made.run("samples", samples=source or MODULE)
    assert not (made.build / "samples" / "samples" / "feeds" / "tensors.json").exists()
    return caught.value


@pytest.fixture(autouse=True)
def forget_user_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.delitem(sys.modules, "data", raising=False)
    monkeypatch.setattr(sys, "path", [*sys.path])


def test_factory_samples_are_written_with_their_labels(tmp_path: Path) -> None:
    made = factory(
        tmp_path,
        "for i in range(count):\n"
        "    feeds = {**GOOD, 'scale': np.array(i, np.float32)}\n"
        "    yield {'id': f'p{i}', 'feeds': feeds, 'labels': {'class': np.array([i])}}",
    )
    findings = made.run("samples", samples={**MODULE, "arguments": {"count": 3}})
    feeds = TensorSet(made.made("samples") / "feeds")
    labels = TensorSet(made.made("samples") / "labels")

    assert feeds.ids == labels.ids == ("p0", "p1", "p2")
    assert feeds.specs(2) == (IMAGE, SCALE)
    assert feeds.load(2, "scale").shape == ()
    assert feeds.load(2, "scale") == 2
    assert labels.load(1, "class").tolist() == [1]
    assert findings.facts == {"samples": 3}
    assert findings.warnings == []


def test_factory_is_consumed_one_sample_at_a_time(tmp_path: Path) -> None:
    made = factory(
        tmp_path,
        "import weakref\n"
        "alive = []\n"
        "for i in range(6):\n"
        "    array = np.array(i, np.float32)\n"
        "    alive.append(weakref.ref(array))\n"
        "    yield {'id': str(i), 'feeds': {**GOOD, 'scale': array}}\n"
        "    held = sum(reference() is not None for reference in alive)\n"
        "    assert held <= 2, held",
    )
    made.run("samples", samples=MODULE)


def test_array_that_is_not_contiguous_is_written_as_it_reads(tmp_path: Path) -> None:
    """IO03."""
    made = factory(
        tmp_path,
        "image = np.arange(4, dtype=np.uint8).reshape(1, 2, 2).transpose(0, 2, 1)\n"
        "yield {'id': 'a', 'feeds': {**GOOD, 'image': image}}",
    )
    made.run("samples", samples=MODULE)

    image = TensorSet(made.made("samples") / "feeds").load(0, "image")
    assert image.tolist() == [[[0, 2], [1, 3]]]


@pytest.mark.parametrize(
    ("feeds", "said"),
    [
        pytest.param("{}", "input 'image' is not fed", id="missing"),
        pytest.param(
            "{**GOOD, 'img': 1}",
            "feeds 'img', which is no input; the manifest's",
            id="extra",
        ),
        pytest.param("[1]", "feeds is a list, not a mapping", id="not-a-mapping"),
        pytest.param(
            "{**GOOD, 'image': np.ones((1, 2, 2), np.float32)}",
            "input 'image' is float32, must be uint8: want 4 bytes uint8, got 16",
            id="byte-count",
        ),
        pytest.param(
            "{**GOOD, 'scale': np.array(2.0)}",
            "'scale' is float64, must be float32: want 4 bytes float32, got 8 (numpy's",
            id="float64",
        ),
        pytest.param(
            "{**GOOD, 'scale': np.ones(1, np.float32)}",
            "has shape [1], want []",
            id="vector",
        ),
        pytest.param(
            "{**GOOD, 'scale': 2.0}", "is a float, not a numpy array", id="python"
        ),
        pytest.param("{**GOOD, 'scale': np.float32('nan')}", "1 NaN or infinite", id="nan"),
        pytest.param(
            "{**GOOD, 'scale': np.float32('-inf')}", "1 NaN or infinite", id="inf"
        ),
    ],
)
def test_feeds_unlike_the_manifest_are_refused_by_sample_id(
    feeds: str, said: str, tmp_path: Path
) -> None:
    made = factory(tmp_path, f"yield {{'id': 'cat-7', 'feeds': {feeds}}}")
    message = refusal(made)

    assert "sample 'cat-7': " in message
    assert said in message


@pytest.mark.parametrize(
    ("body", "said"),
    [
        pytest.param("return []", "data.py:make gives no sample", id="empty"),
        pytest.param("return 3", "returned a int, not an iterable", id="no-iterable"),
        pytest.param(
            "return {'id': 'a'}", "returned a dict, not an iterable", id="one-sample"
        ),
        pytest.param(
            "yield 3", "sample number 0: is a int, not a mapping", id="no-mapping"
        ),
        pytest.param("yield {'feeds': GOOD}", "its id is a NoneType", id="no-id"),
        pytest.param("yield {'id': 7, 'feeds': GOOD}", "its id is a int", id="int-id"),
        pytest.param("yield {'id': '', 'feeds': GOOD}", "its id is empty", id="empty-id"),
        pytest.param(
            "yield from [{'id': 'a', 'feeds': GOOD}] * 2",
            "sample number 1 ('a'): another sample has the same id",
            id="same-id",
        ),
        pytest.param(
            "yield {'id': 'a', 'feeds': GOOD, 'label': {}}",
            "unknown keys ['label']",
            id="key",
        ),
        pytest.param(
            "yield {'id': 'a', 'feeds': GOOD, 'labels': {'t': 'cat'}}",
            "label 't' is a str",
            id="label",
        ),
        pytest.param(
            "yield {'id': 'a', 'feeds': GOOD, 'labels': {'t': np.array(['cat'])}}",
            "label 't' is str96",
            id="label-dtype",
        ),
        pytest.param(
            "yield 1 / 0", "data.py:4 (make): ZeroDivisionError: division", id="raises"
        ),
    ],
)
def test_what_is_no_sample_set_is_refused(body: str, said: str, tmp_path: Path) -> None:
    assert said in refusal(factory(tmp_path, body))


def test_factory_called_with_arguments_it_lacks_is_named(tmp_path: Path) -> None:
    made = factory(tmp_path, "yield 1")

    # Python 3.13 goes on with a suggestion
    assert refusal(made, **MODULE, arguments={"cuont": 3}).startswith(
        "data.py:make: TypeError: make() got an unexpected keyword argument 'cuont'"
    )


def test_all_problems_are_listed_at_once(tmp_path: Path) -> None:
    made = factory(tmp_path, "for i in range(3):\n    yield {'id': str(i), 'feeds': {}}")
    message = refusal(made)

    assert message == (
        "data.py:make: 2 problems:"
        "\n  - all 3 samples: input 'image' is not fed"
        "\n  - all 3 samples: input 'scale' is not fed"
    )


def test_one_mistake_of_the_factory_is_one_line(tmp_path: Path) -> None:
    made = factory(
        tmp_path,
        "for i in range(6):\n"
        "    image = np.ones((1, 2, 2), np.float32 if i % 2 else np.uint8)\n"
        "    yield {'id': f's{i}', 'feeds': {**GOOD, 'image': image}}",
    )
    head, line = refusal(made).splitlines()

    assert head == "data.py:make: 1 problem:"
    assert line.startswith(
        "  - 3 of 6 samples ('s1', 's3', 's5'): input 'image' is float32"
    )


def test_float_image_for_a_uint8_input_is_refused_with_both_byte_counts(
    tmp_path: Path,
) -> None:
    """DT06."""
    made = pipeline(tmp_path, [TensorSpec("img", "uint8", (1, 3, 4, 4))])
    np.savez(made.folder / "a.npz", img=np.zeros((1, 3, 4, 4), np.float32))

    assert "want 48 bytes uint8, got 192" in refusal(made, files="*.npz")


@pytest.mark.parametrize(
    ("want", "fed", "said"),
    [
        (
            ("float32", (1, 3, 4, 4)),
            ("uint8", (1, 4, 4, 3)),
            "want 192 bytes float32, got 48",
        ),
        (
            ("uint8", (1, 4, 4, 3)),
            ("float32", (1, 3, 4, 4)),
            "want 48 bytes uint8, got 192",
        ),
        (
            ("float32", (1, 3, 4, 4)),
            ("float32", (1, 4, 4, 3)),
            "has shape [1, 4, 4, 3], want",
        ),
        (("float16", (1, 5)), ("float32", (1, 5)), "want 10 bytes float16, got 20"),
        (("int32", (1, 5)), ("int64", (1, 5)), "want 20 bytes int32, got 40"),
        (("int8", (1, 5)), ("uint8", (1, 5)), "is uint8, must be int8"),
    ],
    ids=["picture", "tensor", "layout", "half", "int64", "sign"],
)
def test_picture_is_no_tensor_and_a_dtype_no_other(
    want: tuple[str, tuple[int, ...]],
    fed: tuple[str, tuple[int, ...]],
    said: str,
    tmp_path: Path,
) -> None:
    """IO01, DT06, DT10. Nothing is cast, transposed or scaled on the way in."""
    made = pipeline(tmp_path, [TensorSpec("x", *want)])
    np.savez(made.folder / "a.npz", x=np.zeros(fed[1], fed[0]))

    assert said in refusal(made, files="*.npz")


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("yield from [{'id': 'a', 'feeds': GOOD}] * 2", id="same-id"),
        pytest.param(
            "yield {'id': 'a', 'feeds': {**GOOD, 'scale': np.float32('nan')}}", id="nan"
        ),
        pytest.param("yield {'id': 'a', 'feeds': GOOD, 'labels': {'t': 1}}", id="label"),
    ],
)
def test_manifest_is_not_pointed_at_for_what_its_inputs_do_not_say(
    body: str, tmp_path: Path
) -> None:
    error = refused(factory(tmp_path, body))

    assert (error.hint, error.keys) == (None, ())


@pytest.mark.parametrize(
    "feeds",
    [
        "{'scale': GOOD['scale']}",
        "{**GOOD, 'scale': np.array(2.0)}",
        "{**GOOD, 'scale': np.ones(1, np.float32)}",
    ],
    ids=["name", "dtype", "shape"],
)
def test_feed_unlike_the_manifest_points_at_its_inputs(feeds: str, tmp_path: Path) -> None:
    body = f"yield from [{{'id': 'a', 'feeds': {feeds}}}] * 2"  # and a repeated id
    error = refused(factory(tmp_path, body))

    assert str(error.hint).startswith("feeds must match the manifest's inputs exactly")
    assert error.keys == ("inputs",)


def test_label_among_the_arrays_of_a_file_is_told_its_name(tmp_path: Path) -> None:
    made = pipeline(tmp_path, [SCALE])
    np.savez(made.folder / "a.npz", scale=np.float32(1), mask=np.ones(2))
    error = refused(made, files="*.npz")

    assert "sample 'a': feeds 'mask', which is no input" in error.message
    assert "if 'mask' is a label, name it 'label.mask' in the file" in str(error.hint)
    assert "if it is an input of the model, name it under `inputs`" in str(error.hint)


def test_label_among_the_feeds_of_a_factory_is_told_its_place(tmp_path: Path) -> None:
    made = factory(tmp_path, "yield {'id': 'a', 'feeds': {**GOOD, 'mask': np.ones(2)}}")

    assert "if 'mask' is a label, give it under \"labels\"" in str(refused(made).hint)


def test_endless_wrong_samples_are_not_waited_for(tmp_path: Path) -> None:
    made = factory(tmp_path, "import itertools\nfor i in itertools.count():\n    yield i")

    assert refusal(made).startswith(
        "data.py:make: 1 problem (no more looked at after 20 wrong samples):"
        "\n  - all of the first 20 samples: is a int, not a mapping"
    )


def test_files_are_read_in_order_with_labels(tmp_path: Path) -> None:
    made = pipeline(tmp_path, [SCALE])
    folder = made.folder / "inputs"
    folder.mkdir()
    for name in ("b", "a"):
        arrays: dict[str, Any] = {
            "scale": np.array(1, np.float32),
            "label.class": np.array([7]),
        }
        np.savez(folder / f"{name}.npz", **arrays)
    made.run("samples", samples={"files": "inputs/*.npz"})

    assert TensorSet(made.made("samples") / "feeds").ids == ("inputs/a", "inputs/b")
    assert TensorSet(made.made("samples") / "labels").load(0, "class").tolist() == [7]


@pytest.mark.parametrize(
    ("pattern", "sample"),
    [("data:set/*.npz", "set/a"), ("../../far/set/*.npz", "../../far/set/a")],
    ids=["root", "above"],
)
def test_files_elsewhere_are_found_and_named_from_where_the_pattern_starts(
    tmp_path: Path, pattern: str, sample: str
) -> None:
    made = pipeline(tmp_path, [SCALE])
    made.roots["data"] = tmp_path / "far"
    (tmp_path / "far" / "set").mkdir(parents=True)
    np.savez(tmp_path / "far" / "set" / "a.npz", scale=np.array(1, np.float32))
    made.run("samples", samples={"files": pattern})

    assert TensorSet(made.made("samples") / "feeds").ids == (sample,)


def test_pattern_that_matches_nothing_is_refused(tmp_path: Path) -> None:
    made = pipeline(tmp_path, [SCALE])

    error = refused(made, files="inputs/*.npz")

    assert error.message == "inputs/*.npz gives no sample"
    assert error.keys == ("samples",)
    assert error.hint == (
        f"no file in pipelines/{made.folder.name} matches; write one there for each "
        "sample: np.savez('inputs/first.npz', scale=array)"
    )


@pytest.mark.parametrize(
    "content", [b"", b"text", b"PK\x03\x04cut"], ids=["empty", "text", "cut"]
)
def test_file_that_is_no_npz_is_refused_by_name(content: bytes, tmp_path: Path) -> None:
    made = pipeline(tmp_path, [SCALE])
    (made.folder / "a.npz").write_bytes(content)

    assert "a.npz is not a readable .npz file" in refusal(made, files="*.npz")


def zipped(header: bytes, method: int) -> bytes:
    stream = BytesIO()
    with ZipFile(stream, "w", method) as file:
        file.writestr("scale.npy", b"\x93NUMPY\x01\x00" + pack("<H", len(header)) + header)
    return stream.getvalue()


SMALL = b"{'descr': '<f4', 'fortran_order': False, 'shape': (9,)}\n"
HUGE = SMALL.replace(b"9", b"9" * 15)
DEFLATED = zipped(SMALL, ZIP_DEFLATED)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(zipped(HUGE, ZIP_STORED), id="more-than-memory"),
        pytest.param(zipped(SMALL.replace(b"}", b"("), ZIP_STORED), id="bad-header"),
        pytest.param(DEFLATED[:39] + b"\xff" * 9 + DEFLATED[48:], id="bad-stream"),
        pytest.param(DEFLATED.replace(b"\x14\x00", b"\x9e\x00"), id="other-version"),
    ],
)
def test_damage_inside_an_npz_is_refused_by_name(content: bytes, tmp_path: Path) -> None:
    made = pipeline(tmp_path, [SCALE])
    (made.folder / "a.npz").write_bytes(content)

    assert "a.npz is not a readable .npz file" in refusal(made, files="*.npz")


@pytest.mark.parametrize("dtype", ["float32", "int64"])
@pytest.mark.parametrize("shape", [(2**50, 1), (2**62, 4)], ids=["memory", "counting"])
def test_random_tensor_that_memory_does_not_hold_is_refused_by_input(
    shape: tuple[int, int], dtype: str, tmp_path: Path
) -> None:
    made = pipeline(tmp_path, [SCALE, TensorSpec("image", dtype, shape)])
    said = refusal(made, random={"seed": 0, "count": 1})

    assert f"input 'image', {dtype} of shape {list(shape)}, does not fit" in said


def test_bytes_in_the_other_order_are_the_same_values(tmp_path: Path) -> None:
    made = pipeline(tmp_path, [TensorSpec("scale", "float32", (2, 2))])
    values = np.array([[1, 2], [3, 4.5]], np.float32)
    label = {"label.class": np.array([7], ">i8")}
    feed = np.asfortranarray(values.astype(">f4"))
    np.savez(made.folder / "a.npz", scale=feed, allow_pickle=False, **label)
    made.run("samples", samples={"files": "*.npz"})

    read = TensorSet(made.made("samples") / "feeds").load(0, "scale")
    np.testing.assert_array_equal(read, values)
    assert TensorSet(made.made("samples") / "labels").load(0, "class").tolist() == [7]


def test_two_arrays_of_one_name_are_refused(tmp_path: Path) -> None:
    made = pipeline(tmp_path, [SCALE])
    np.savez(made.folder / "a.npz", scale=np.array(1, np.float32))
    with (
        pytest.warns(UserWarning, match="Duplicate name"),
        ZipFile(made.folder / "a.npz", "a") as file,
    ):
        file.writestr("scale.npy", file.read("scale.npy"))

    assert "it holds two arrays called 'scale'" in refusal(made, files="*.npz")


def test_npy_file_is_refused_as_one(tmp_path: Path) -> None:
    made = pipeline(tmp_path, [SCALE])
    with (made.folder / "a.npz").open("wb") as file:
        np.save(file, np.array(1, np.float32))

    assert "as np.save writes it" in refusal(made, files="*.npz")


def test_pickled_objects_are_never_loaded(tmp_path: Path) -> None:
    made = pipeline(tmp_path, [SCALE])
    np.savez(made.folder / "a.npz", scale=np.array([{"a": 1}], object))

    assert "a.npz is not a readable .npz file" in refusal(made, files="*.npz")


def test_random_samples_are_the_same_each_time_and_warned_about(tmp_path: Path) -> None:
    tokens = TensorSpec("tokens", "int64", (2, 50))
    sets = []
    for run in ("one", "two"):
        made = pipeline(tmp_path / run, [tokens, SCALE])
        how = {"seed": 5, "count": 2, "ranges": {"tokens": [10, 13]}}
        findings = made.run("samples", samples={"random": how})
        sets.append(TensorSet(made.made("samples") / "feeds"))
        assert findings.warnings[0].startswith("random inputs")
    first, second = (s.sample(0) for s in sets)

    np.testing.assert_array_equal(first["tokens"], second["tokens"])
    assert set(np.unique(first["tokens"])) == {10, 11, 12}
    assert first["tokens"].dtype == np.int64
    assert 0 <= first["scale"] < 1
    assert sets[0].sample(1)["scale"] != first["scale"]


@pytest.mark.parametrize(
    ("ranges", "said"),
    [
        pytest.param({"token": [0, 1]}, "'token', which is no input", id="name"),
        pytest.param({"scale": [1, 1]}, "the range [1, 1) of 'scale' is empty", id="empty"),
    ],
)
def test_wrong_range_is_refused(
    ranges: dict[str, list[int]], said: str, tmp_path: Path
) -> None:
    made = pipeline(tmp_path, [SCALE])

    assert said in refusal(made, random={"seed": 0, "count": 1, "ranges": ranges})


@pytest.mark.parametrize("dtype", ["bool", "float16", "bfloat16", "uint8", "int32"])
def test_random_samples_come_in_every_dtype(dtype: str, tmp_path: Path) -> None:
    made = pipeline(tmp_path, [TensorSpec("x", dtype, (3,))])
    made.run("samples", samples={"random": {"seed": 0, "count": 1}})

    assert TensorSet(made.made("samples") / "feeds").specs(0)[0].dtype == dtype
