from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from ascendflow.errors import ManifestError
from tests.unit.manifest.test_load import EVERYTHING

if TYPE_CHECKING:
    from tests.unit.manifest.conftest import Repository


def test_factories_that_are_not_there_are_all_told_with_what_is(
    repository: Repository,
) -> None:
    text = "def biuld(): ...\n\ndef _hidden():\n    build = 1\n"
    (repository.folder / "model.py").write_text(text)
    (repository.folder / "metric.py").write_text("IOU = 1\nmean_iou.x = 2\n")

    with pytest.raises(ManifestError) as caught:
        repository.load(EVERYTHING)

    lines = [line.partition(": ")[2] for line in str(caught.value).splitlines()]
    assert lines == [
        "source.torch.factory is not defined in model.py, got 'build'",
        "did you mean 'biuld'?",
        "evaluate.factory is not defined in metric.py, got 'mean_iou'",
        "known here: IOU",
    ]
    assert caught.value.exit_code == 3


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("class build: ...", id="class"),
        pytest.param("async def build(**_): ...", id="async"),
        pytest.param("import build", id="module"),
        pytest.param("from net import Net as build", id="imported"),
        pytest.param("from net import *", id="all-of-another"),
        pytest.param("one, (build, *_) = 1, (2, 3)", id="unpacked"),
        pytest.param("build: int = 1", id="annotated"),
        pytest.param("try:\n    import x\nexcept E:\n    def build(**_): ...", id="inner"),
        pytest.param("if (build := 1): ...", id="walrus"),
        pytest.param("for build in (): ...", id="loop"),
        pytest.param("def make():\n    global build\n    build = 1", id="global"),
        pytest.param("globals()['build'] = 1", id="globals"),
        pytest.param("exec('build = 1')", id="exec"),
        pytest.param("import sys\nsys.modules[__name__] = x", id="another-module"),
        pytest.param("def __getattr__(name): ...", id="getattr"),
        pytest.param("def build(:", id="no-python"),
        pytest.param("\\0", id="zero-byte"),
        pytest.param("(" * 10_000, id="deep"),
    ],
)
def test_what_may_define_a_factory_is_left_to_its_stage(
    repository: Repository, text: str
) -> None:
    (repository.folder / "model.py").write_text(text)

    assert repository.load(EVERYTHING).manifest.model == "pan"


def test_a_module_is_read_and_not_run(
    repository: Repository, capfd: pytest.CaptureFixture[str]
) -> None:
    text = "print('here')\nx = '\\d' is 1\ndef build(**_): ...\n"
    (repository.folder / "model.py").write_text(text)

    repository.load(EVERYTHING)

    assert capfd.readouterr() == ("", "")


MODEL = """\
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self, classes, width=8): ...

def strict(classes, *, width): ...
def first(classes, /): ...
@torch.no_grad()
def decorated(): ...
class Derived(Other):
    def __init__(self): ...
"""


@pytest.mark.parametrize(
    ("factory", "arguments", "told"),
    [
        (
            "Net",
            "{clases: 2}",
            [
                (
                    "8: source.torch.arguments.clases is no argument of model.py:4 "
                    "Net(self, classes, width=8)"
                ),
                "did you mean 'classes'?",
                (
                    "8: source.torch.arguments lacks classes, which model.py:4 "
                    "Net(self, classes, width=8) needs"
                ),
                "write arguments: {classes: ...}, or give it a default",
            ],
        ),
        (
            "strict",
            "{classes: 2, width: 3, self: 1}",
            [
                (
                    "8: source.torch.arguments.self is no argument of model.py:7 "
                    "strict(classes, *, width)"
                ),
                "known here: classes, width",
            ],
        ),
        (
            "strict",
            "{classes: 2}",
            [
                (
                    "8: source.torch.arguments lacks width, which model.py:7 "
                    "strict(classes, *, width) needs"
                ),
                "write arguments: {width: ...}, or give it a default",
            ],
        ),
        (
            "first",
            "{classes: 2}",
            [
                (
                    "8: source.torch.arguments.classes is no argument of model.py:8 "
                    "first(classes, /)"
                ),
                "known here: none",
            ],
        ),
        ("Net", "{classes: 2, width: 3}", []),
        ("decorated", "{any: 2}", []),
        ("Derived", "{any: 2}", []),
    ],
)
def test_arguments_are_held_against_the_factory_that_gets_them(
    repository: Repository, factory: str, arguments: str, told: list[str]
) -> None:
    (repository.folder / "model.py").write_text(MODEL)
    text = re.sub(
        r"build\n    arguments: .*", f"{factory}\n    arguments: {arguments}", EVERYTHING
    )

    if not told:
        assert repository.load(text)
        return
    with pytest.raises(ManifestError) as caught:
        repository.load(text)

    lines = str(caught.value).splitlines()
    said = [re.sub(r"^\S*yaml:|^  hint: ", "", line) for line in lines]
    assert said == told


@pytest.mark.parametrize(
    ("metric", "told"),
    [
        ("def mean_iou(outputs): ...", "must take 2 arguments by place"),
        ("def mean_iou(outputs, samples): ...", "is no argument of metric.py:1"),
        ("def mean_iou(outputs, ignore): ...", "is what ascendflow gives to metric.py:1"),
        ("def mean_iou(*both, ignore): ...", None),
    ],
)
def test_metric_gets_outputs_and_samples_before_its_arguments(
    repository: Repository, metric: str, told: str | None
) -> None:
    (repository.folder / "metric.py").write_text(metric)

    if told is None:
        assert repository.load(EVERYTHING)
        return
    with pytest.raises(ManifestError, match=told):
        repository.load(EVERYTHING)
